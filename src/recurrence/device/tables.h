// Tables that a device reads, as one tensor of bytes. Internal to this folder.
#pragma once
#include <cstring>
#include <vector>

#include "tensor/torch.h"

namespace pushdown {

class DeviceTables {
 public:
  // Returns the place of the table.
  template <class T>
  std::size_t put(const T* numbers, std::size_t count) {
    bytes_.resize((bytes_.size() + 15) / 16 * 16);
    const auto place = bytes_.size();
    bytes_.resize(place + count * sizeof(T));
    if (count > 0) std::memcpy(bytes_.data() + place, numbers, count * sizeof(T));
    return place;
  }
  template <class Table>
  std::size_t put(const Table& table) {
    return put(table.data(), table.size());
  }
  std::size_t size() const { return (bytes_.size() + 15) / 16 * 16; }
  Tensor uploaded(at::Device device) const {
    const Tensor all = at::zeros({static_cast<std::int64_t>(size())}, at::kByte);
    std::memcpy(all.data_ptr<std::uint8_t>(), bytes_.data(), bytes_.size());
    return all.to(device);
  }
  template <class T>
  static const T* view(const Tensor& tables, std::size_t place) {
    return reinterpret_cast<const T*>(tables.data_ptr<std::uint8_t>() + place);
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace pushdown
