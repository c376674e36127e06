import { domainToASCII } from 'node:url'
import { optionFlag, optionValue } from '#domain/options/option-registry.ts'
import { loginError } from '../sessions/login-and-registration-errors.ts'
import { mailError } from './mail-errors.ts'

const LENGTH_MAX = 254
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
// Matches the domain of an address in Unicode. Other characters are rejected, because
// `domainToASCII` would silently change some of them. For example, `domainToASCII` would remove a
// path or a query, and decode `%61`.
const HOST = /^[\p{L}\p{M}\p{N}.-]+$/u
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

/**
 * Returns the canonical form of an email address: lower case, with the domain in ASCII. Throws if
 * the address is invalid.
 */
export function mailAddressOf(text: string): string {
  const input = text.normalize('NFKC').trim()
  if (input === '') throw mailError('MailRequired')
  const address = normalizeMailAddress(input)
  if (address === null) throw mailError('MailInvalid')
  return address
}

/**
 * Returns the canonical form of an email address: lower case, with the domain in ASCII. Returns
 * null if the address is invalid.
 */
export function normalizeMailAddress(text: string): string | null {
  const input = text.normalize('NFKC').trim().toLowerCase()
  const at = input.lastIndexOf('@')
  const [local, host] = [input.slice(0, at), input.slice(at + 1)]
  const domain = HOST.test(host) ? domainToASCII(host) : ''
  const address = `${local}@${domain}`
  const isAddress = at > 0 && local.length <= 64 && LOCAL.test(local) && DOMAIN.test(domain)
  return isAddress && address.length <= LENGTH_MAX ? address : null
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/**
 * Throws if the operator allows only certain domains, and the domain of the address is not one of
 * them.
 */
export function checkMailDomain(values: ReadonlyMap<string, string>, address: string): void {
  if (!optionFlag(values, 'EmailDomainRestrictionEnabled')) return
  const allowed = optionValue(values, 'EmailDomainWhitelist')
    .split(/[\s,;]+/)
    .map((domain) => domainToASCII(domain.replace(/^@/, '')))
  if (!allowed.includes(domainOf(address))) throw loginError('MailDomainNotAllowed')
}
