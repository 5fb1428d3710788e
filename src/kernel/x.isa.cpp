namespace k{}
