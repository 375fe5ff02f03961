#pragma once
#include "@base_header@"
@includes@
namespace atlas::@library@ {

class @Class@ : public @Base@ {
 public:
  explicit @Class@(std::int64_t factor = @a@);
  std::string name() const override;
  std::int64_t apply(std::int64_t value) const override;
  int priority() const override { return @b@; }
  std::string describe() const override;
  @Class@& note(std::string text);
  const std::vector<std::string>& notes() const { return notes_; }
  std::map<std::string, std::size_t> note_lengths() const;

 private:
  std::int64_t factor_;
  std::vector<std::string> notes_;
};

inline std::string @unit@_label(const @Class@& stage) {
  return stage.name() + "/" + std::to_string(stage.priority());
}

@declarations@
}  // namespace atlas::@library@
