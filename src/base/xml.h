// Reads XML documents of simple formats: elements, attributes, text, comments, CDATA sections and
// the predefined entities. Declarations of a document type are skipped, and those with their own
// entities are refused, so a small file cannot become a large one.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pushdown {

struct XmlElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes = {};
  std::string text = {};  // all text that is directly inside, without white space at both ends
  std::vector<XmlElement> children = {};
  int line = 0;

  // Returns the first child with this name, or null.
  const XmlElement* child(std::string_view wanted) const;
  // Returns the value of an attribute, or null.
  const std::string* attribute(std::string_view wanted) const;
};

// Returns the root of a document. Throws std::invalid_argument "[where] file:line: ..." for text
// that is not UTF-8 or not well-formed, or for elements nested deeper than 100.
XmlElement parse_xml(std::string_view where, std::string_view text, std::string_view file);

}  // namespace pushdown
