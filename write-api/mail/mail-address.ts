import { domainToASCII } from 'node:url'
import { optionFlag, optionValue } from '#domain/options/registry.ts'
import { loginError } from '../session/login-errors.ts'
import { mailError } from './mail-errors.ts'

const LENGTH_MAX = 254
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
// What is read as a URL's host else: a path or a query is cut off, `%61` decoded, marks dropped.
const HOST = /^[\p{L}\p{M}\p{N}.-]+$/u
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

/**
 * The address in the one spelling by which it is known: lower case, its domain in ASCII. Throws
 * when it is empty or no address.
 */
export function mailAddressOf(text: string): string {
  const given = text.normalize('NFKC').trim()
  if (given === '') throw mailError('MailRequired')
  const address = spelled(given)
  if (address === null) throw mailError('MailInvalid')
  return address
}

/** The same; null for what is no address. */
export function spelled(text: string): string | null {
  const given = text.normalize('NFKC').trim().toLowerCase()
  const at = given.lastIndexOf('@')
  const [local, host] = [given.slice(0, at), given.slice(at + 1)]
  const domain = HOST.test(host) ? domainToASCII(host) : ''
  const address = `${local}@${domain}`
  const isAddress = at > 0 && local.length <= 64 && LOCAL.test(local) && DOMAIN.test(domain)
  return isAddress && address.length <= LENGTH_MAX ? address : null
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** Throws when the operator's list of domains is in force and does not have the address's. */
export function checkMailDomain(values: ReadonlyMap<string, string>, address: string): void {
  if (!optionFlag(values, 'EmailDomainRestrictionEnabled')) return
  const allowed = optionValue(values, 'EmailDomainWhitelist')
    .split(/[\s,;]+/)
    .map((domain) => domainToASCII(domain.replace(/^@/, '')))
  if (!allowed.includes(domainOf(address))) throw loginError('MailDomainNotAllowed')
}
