# The rules of `make lint` for Markdown. Sessions and output have no language, tables may be wide, a page begins with
# a link to the list of pages, and changelogs repeat their headings.
all
rule 'MD013', :line_length => 100, :tables => false, :code_blocks => false
rule 'MD024', :allow_different_nesting => true
exclude_rule 'MD002'
exclude_rule 'MD014'
exclude_rule 'MD033'
exclude_rule 'MD040'
exclude_rule 'MD041'
