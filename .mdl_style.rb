# The rules of `make lint` for Markdown. Sessions and output have no language, tables may be wide, a page begins with
# a link to the list of pages, changelogs repeat their headings, and headings can be questions.
all
rule 'MD010', :ignore_code_blocks => true
rule 'MD013', :line_length => 100, :tables => false, :ignore_code_blocks => true
rule 'MD026', :punctuation => '.,;:!'
rule 'MD024', :allow_different_nesting => true
%w[MD002 MD014 MD029 MD033 MD038 MD040 MD041 MD046].each { |name| exclude_rule name }
