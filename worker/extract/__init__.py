"""From pages to data: rules that people declare, applied to documents that are stored. Pure: nothing is fetched.

    located.py    a rules file with the line of each key     rules.py      the file read strictly
    model.py      what rules are, once read                  selectors.py  where values are in a document
    page.py       a document, parsed as far as rules ask     text.py       what an element says
    values.py     texts to typed values                      numbers.py, prices.py, dates.py
    json_text.py  JSON as pages have it, bounded
    schema_org.py entities: JSON-LD, bounded                 markup.py     entities: microdata, RDFa
    items.py      rules applied to a page                    tally.py      what was lost, by rule and cause
    work.py       what rules may cost on a page  links.py      which links are worth more, or none
    crawled.py    rules on a page that is read   identity.py   what became of an item since the last version
    plugins.py    code where rules end
    writing.py    JSON lines, CSV                            cases.py      the tests that stand beside rules

Imports base, web, read and links (for URL patterns).
"""
