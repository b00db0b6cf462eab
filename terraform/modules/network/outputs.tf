output "vpc_id" {
  description = "The VPC."
  value       = aws_vpc.this.id
}

output "cidr" {
  description = "Its addresses."
  value       = aws_vpc.this.cidr_block
}

# A machine that starts before its way out is there can install nothing.
output "subnets" {
  description = "Private subnets by zone."
  value       = { for zone, subnet in aws_subnet.private : zone => subnet.id }
  depends_on  = [aws_route.private, aws_route.public, aws_route_table_association.private, aws_route_table_association.public, aws_vpc_endpoint.s3]
}

output "zone_id" {
  description = "The private DNS zone."
  value       = aws_route53_zone.this.zone_id
}

output "domain" {
  description = "Its name."
  value       = aws_route53_zone.this.name
}

output "nat_gateways" {
  description = "NAT gateways by zone, for alarms."
  value       = { for zone, gateway in aws_nat_gateway.this : zone => gateway.id }
}

output "endpoints_security_group_id" {
  description = "The security group of the endpoints."
  value       = aws_security_group.endpoints.id
}
