import { proxyToUse } from '#domain/channel/check-terms.ts'
import type { ChannelTerms } from '#domain/channel/events.ts'
import { checkUrl, type OutboundPolicy } from '#infra/outbound/guard.ts'
import { taskProfileOf } from '../tasks/profiles.ts'
import type { KeyHeader, Profile } from './profile.ts'
import { profileOf } from './profiles.ts'

const VERSION = /^v\d+$/
const CHAT_END = '/chat/completions'

/**
 * The path of a call below an address. An address that ends in a version is the root of the API
 * itself (`https://api.example.com/v4`), so that the path goes on behind its own version; and one
 * that ends in `/chat/completions` is the whole address of a chat call.
 */
function pathBelow(address: string, path: string): string {
  const root = rootOf(address)
  const last = root.slice(root.lastIndexOf('/') + 1)
  if (!isWhole(address) && !VERSION.test(last)) return `${root}${path}`
  return `${root}${tailBehind(path, last)}`
}

/** Beside the API's versions: where providers keep their accounts. */
function pathBeside(address: string, path: string): string {
  if (path.split('/').some((segment) => VERSION.test(segment))) return pathBelow(address, path)
  const root = rootOf(address)
  const at = root.lastIndexOf('/')
  return `${VERSION.test(root.slice(at + 1)) ? root.slice(0, at) : root}${path}`
}

const isWhole = (address: string): boolean => withoutSlashes(address).endsWith(CHAT_END)

function rootOf(address: string): string {
  const bare = withoutSlashes(address)
  return isWhole(bare) ? bare.slice(0, -CHAT_END.length) : bare
}

const withoutSlashes = (address: string): string => address.replace(/\/+$/, '')

/** What follows the version that the address has, or else the path's own last one. */
function tailBehind(path: string, version: string): string {
  const segments = path.split('/')
  const same = segments.indexOf(version)
  const at = same >= 0 ? same : segments.findLastIndex((segment) => VERSION.test(segment))
  if (at >= 0) return `/${segments.slice(at + 1).join('/')}`
  // Without a version of its own it may still be a longer form of a chat's path.
  return path.includes(CHAT_END) ? CHAT_END : path
}

/** Where and how a channel is called; made once per change of the channel. */
export type ProviderTarget = {
  readonly profile: Profile
  readonly origin: string
  /** The way there, for `Outbound.via`; null: directly. */
  readonly proxy: string | null
  /** Of chat calls. May hold `{model}`: see `chatPathOf`. */
  readonly path: string
  /** Of chat calls. Flat name and value pairs. */
  readonly headers: readonly string[]
  readonly isOutputTotalLessPrompt: boolean
  /** What the key opens, and where its account is. */
  readonly address: { readonly href: string; readonly key: string; readonly other: string }
}

const MODEL = '{model}'

/**
 * null when the relay can't call it: no such format, no address, or one the policy refuses. `proxy`
 * is that of its setting, with its login.
 */
export function providerTarget(
  terms: Pick<ChannelTerms, 'type' | 'baseUrl' | 'organization' | 'other' | 'setting'>,
  key: string,
  policy: OutboundPolicy,
  proxy = proxyToUse(terms),
): ProviderTarget | null {
  const profile = profileOf(terms.type) ?? taskProfileOf(terms.type)
  const base = profile === undefined ? null : baseOf(profile, terms.baseUrl)
  if (profile === undefined || base === null) return null
  const checked = checkUrl(base, policy)
  if (!checked.isAllowed || !isHeaderText(key) || !isHeaderText(terms.organization)) return null
  const other = otherOf(profile, terms.other)
  if (other === null) return null
  const { url } = checked
  const path = filled(pathBelow(url.pathname, profile.chatPath), other)
  const organization = terms.organization === '' ? [] : ['openai-organization', terms.organization]
  return {
    profile,
    origin: url.origin,
    proxy,
    path: withQuery(path, url.search),
    headers: [
      'content-type',
      'application/json',
      ...keyHeader(profile.keyHeader, key),
      'accept-encoding',
      'identity',
      'user-agent',
      'tallygate',
      ...organization,
    ],
    isOutputTotalLessPrompt: profile.isOutputTotalLessPrompt ?? false,
    address: { href: url.href, key, other },
  }
}

/** Whether calls name a deployment, which runs some model under a name of the operator's choice. */
export const isByDeployment = ({ path }: Pick<ProviderTarget, 'path'>): boolean =>
  path.includes(MODEL)

/** The path of a call of one model. */
export const chatPathOf = ({ path }: ProviderTarget, model: string): string =>
  path.includes(MODEL) ? path.replace(MODEL, () => encodeURIComponent(model)) : path

/** What an answer's words must not show of where they come from: the key, its parts, the host. */
export function confidentialOf({ address, origin }: ProviderTarget): string[] {
  const { host, hostname } = new URL(origin)
  return [address.key, ...address.key.split(/[.|:]/), host, hostname]
}

/** Something else than a chat that a target's key opens: its models, its account. */
export function sideRequest(
  { profile, origin, address }: ProviderTarget,
  path: string,
  options: { readonly isBeside: boolean; readonly keyHeader?: KeyHeader | undefined },
): { readonly url: string; readonly headers: Record<string, string> } {
  const { pathname, search } = new URL(address.href)
  const below = options.isBeside ? pathBeside(pathname, path) : pathBelow(pathname, path)
  const [name = '', value = ''] = keyHeader(options.keyHeader ?? profile.keyHeader, address.key)
  return {
    url: `${origin}${withQuery(filled(below, address.other), search)}`,
    headers: { [name]: value, 'accept-encoding': 'identity', 'user-agent': 'tallygate' },
  }
}

/** The address that a channel's own text stands for; null when it has none. */
export function baseOf(profile: Profile, given: string): string | null {
  if (given === '') return profile.baseUrl
  return profile.bases?.find(({ keyword }) => keyword === given)?.baseUrl ?? given
}

/** null when the type can't do without it. */
function otherOf({ fields = [] }: Profile, given: string): string | null {
  const field = fields.find(({ key }) => key === 'other')
  if (field === undefined) return ''
  const value = given === '' ? field.default : given
  return value === '' && field.isRequired ? null : value
}

const filled = (path: string, other: string): string =>
  path.replace('{other}', () => encodeURIComponent(other))

const withQuery = (path: string, search: string): string =>
  search.length < 2 ? path : `${path}${path.includes('?') ? '&' : '?'}${search.slice(1)}`

const keyHeader = (kind: KeyHeader | undefined, key: string): readonly string[] =>
  kind === undefined ? ['authorization', `Bearer ${key}`] : [kind, key]

/** Visible ASCII: anything else could break out of a header, or be refused by the client. */
const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)
