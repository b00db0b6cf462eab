# What is wrong with the given settings. settings.json is made of the config's types:
# `python -m tests.deploy.values_schema`.

locals {
  rules = jsondecode(file("${path.module}/settings.json"))

  refused = [
    for name, value in var.settings : try("${name} must ${local.rules[name].must}", "${name} is unknown or made by the modules")
    if !try(
      can(regex(local.rules[name].json, jsonencode(value))) &&
      try(value >= local.rules[name].minimum, true) &&
      try(value > local.rules[name].exclusiveMinimum, true) &&
      try(value <= local.rules[name].maximum, true) &&
      alltrue([
        for item in flatten([value]) : can(regex(local.rules[name].like, item)) &&
        (length(local.rules[name].among) == 0 || contains(local.rules[name].among, item))
      ]),
      false
    )
  ]
}
