import { domainToASCII } from 'node:url'
import { optionFlag, optionValue } from '#domain/options/registry.ts'
import { refused } from '../refusals.ts'
import { domainOf } from './mail-address.ts'

/** Throws when the operator's list of domains is in force and does not have the address's. */
export function checkMailDomain(values: ReadonlyMap<string, string>, address: string): void {
  if (!optionFlag(values, 'EmailDomainRestrictionEnabled')) return
  const allowed = optionValue(values, 'EmailDomainWhitelist')
    .split(/[\s,;]+/)
    .map((domain) => domainToASCII(domain.replace(/^@/, '')))
  if (!allowed.includes(domainOf(address))) throw refused('MailDomainNotAllowed')
}
