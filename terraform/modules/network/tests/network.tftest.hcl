variables {
  name  = "gregor"
  zones = ["us-east-1a", "us-east-1b", "us-east-1c"]
}

run "nothing_is_open_to_the_world" {
  variables {
    endpoints = ["logs"]
  }

  assert {
    condition     = alltrue([for subnet in concat(values(aws_subnet.public), values(aws_subnet.private)) : !subnet.map_public_ip_on_launch])
    error_message = "No machine gets a public address."
  }

  assert {
    condition     = alltrue([for group in [aws_security_group.endpoints, aws_default_security_group.closed] : length(coalesce(group.ingress, [])) == 0])
    error_message = "No group lets anybody in by address."
  }

  assert {
    condition     = alltrue([for zone, route in aws_route.private : route.nat_gateway_id == aws_nat_gateway.this[zone].id])
    error_message = "Private subnets go out by the NAT gateway of their own zone."
  }

  assert {
    condition     = length(distinct([for subnet in concat(values(aws_subnet.public), values(aws_subnet.private)) : subnet.cidr_block])) == 6
    error_message = "A public and a private subnet in each of three zones."
  }

  assert {
    condition     = aws_vpc_endpoint.interface["logs"].private_dns_enabled
    error_message = "An endpoint is found by the service's own name."
  }
}

run "one_way_out_is_cheaper" {
  variables {
    one_nat = true
  }

  assert {
    condition     = length(aws_nat_gateway.this) == 1 && length(distinct([for route in aws_route.private : route.nat_gateway_id])) == 1
    error_message = "One NAT gateway for all zones."
  }
}

run "wrong_values" {
  command = plan

  variables {
    name      = "Not Good"
    cidr      = "10.0.0.0/24"
    zones     = ["us-east-1a", "us-east-1a"]
    endpoints = ["s4"]
  }

  expect_failures = [var.name, var.cidr, var.zones, var.endpoints]
}
