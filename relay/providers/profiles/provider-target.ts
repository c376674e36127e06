import type { ChannelTerms } from '#domain/channels/events.ts'
import { proxyToUse } from '#domain/channels/validate-channel-fields.ts'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import { checkUrl, type OutboundPolicy } from '#infra/outbound/outbound-policy.ts'
import { API_VERSION } from '../../dialects/anthropic-messages/headers-passed-to-provider.ts'
import type { FormatName, PathParameters } from '../../dialects/wire-format.ts'
import {
  type CloudAccess,
  MODEL_PLACEHOLDER,
  type ProviderCall,
} from '../provider-access-and-decoder-types.ts'
import {
  AZURE_TYPE,
  MODELS_WITH_CHATS,
  modelsWithChatsAt,
} from './openai-models-with-chat-endpoint.ts'
import { profileOf, taskProfileOf } from './profiles-by-channel-type.ts'
import { type CallEndpoint, endpointFor, type KeyHeader, type Profile } from './provider-profile.ts'

const VERSION = /^v\d+(?:beta\d*)?$/
const CHAT_END = '/chat/completions'
const ORGANIZATION = 'openai-organization'

/**
 * Returns the path of a call below a channel's address. `/chat/completions` at the end of the
 * address is dropped first. If the address had this end or ends with a version
 * (`https://api.example.com/v4`), only the part of `path` after the version is appended.
 */
function pathBelow(address: string, path: string): string {
  const root = rootOf(address)
  const last = root.slice(root.lastIndexOf('/') + 1)
  if (!isWhole(address) && !VERSION.test(last)) return `${root}${path}`
  return `${root}${tailBehind(path, last)}`
}

/**
 * Returns the path of a request that may be outside the versioned API, such as one for the
 * account's balance. If `path` contains no version, a version at the end of the address is dropped.
 * If `path` contains one, the result is that of `pathBelow`.
 */
function pathOutsideVersion(address: string, path: string): string {
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

/**
 * Returns the part of the path after `version`. If the path does not contain this version, returns
 * the part after its last version.
 */
function tailBehind(path: string, version: string): string {
  const segments = path.split('/')
  const same = segments.indexOf(version)
  const at = same >= 0 ? same : segments.findLastIndex((segment) => VERSION.test(segment))
  if (at >= 0) return `/${segments.slice(at + 1).join('/')}`
  // A path without a version may still contain `/chat/completions`.
  return path.includes(CHAT_END) ? CHAT_END : path
}

/**
 * The address and the credentials of a channel. They are computed once and kept until the channel
 * changes.
 */
export type ProviderTarget = {
  readonly profile: Profile
  readonly origin: string
  /**
   * The keyed hash of the host, which is recorded as evidence. Omitted if the host follows from the
   * key.
   */
  readonly hostHash?: string
  /** The URL of the proxy. Null for a direct connection. */
  readonly proxy: string | null
  /** The endpoints for calls. A path may still contain `{model}`, which `callPathOf` replaces. */
  readonly endpoints: readonly CallEndpoint[]
  /** The headers of calls, as a flat list of names and values. */
  readonly headers: readonly string[]
  readonly isOutputTotalLessPrompt: boolean
  /**
   * How the provider is called with the key, if its profile has `cloud`. Null for all other
   * providers.
   */
  readonly cloud: CloudAccess | null
  /**
   * The channel's address, key and `other` field, from which requests other than calls are built.
   */
  readonly address: {
    readonly href: string
    readonly key: string
    readonly other: string
    readonly organization?: string
  }
}

/** The prefix of the names of tuned models in Gemini's API. */
const TUNED = 'tunedModels/'

/**
 * Returns the target of a channel. Returns null for an unknown type, for a missing address, for an
 * address that the outbound policy forbids, for a malformed key or organization, and for a missing
 * or malformed field `other`. `proxy` is the URL of the channel's proxy, including its credentials.
 */
export function providerTarget(
  terms: Pick<ChannelTerms, 'type' | 'baseUrl' | 'organization' | 'other' | 'setting'> & {
    readonly modelMapping?: string
  },
  key: string,
  policy: OutboundPolicy,
  proxy = proxyToUse(terms),
): ProviderTarget | null {
  const profile = profileOf(terms.type) ?? taskProfileOf(terms.type)
  const other = profile === undefined ? null : otherOf(profile, terms.other)
  if (profile === undefined || other === null || !isHeaderText(terms.organization)) return null
  const entered = enteredBase(profile, terms.baseUrl)
  const cloud = profile.cloud?.({ key, other, baseUrl: entered }) ?? null
  if (cloud === null && (profile.cloud !== undefined || !isHeaderText(key))) return null
  const isCloudAddress = cloud !== null && entered === ''
  const base = isCloudAddress ? cloud.baseUrlFor('') : baseOf(profile, terms.baseUrl)
  const checked = base === null ? null : checkUrl(base, policy)
  if (!checked?.isAllowed) return null
  const { url } = checked
  const isNamed = terms.organization !== ''
  const organization = isNamed ? [ORGANIZATION, terms.organization] : []
  const ofAccount = isNamed ? { organization: terms.organization } : {}
  return {
    profile,
    origin: url.origin,
    proxy,
    endpoints: withServedModels(endpointsAt(profile, url, other), terms, url.hostname),
    headers: [
      'content-type',
      'application/json',
      ...(cloud === null ? keyHeader(profile.keyHeader, key) : []),
      'accept-encoding',
      'identity',
      'user-agent',
      'tallygate',
      ...organization,
    ],
    isOutputTotalLessPrompt: profile.isOutputTotalLessPrompt ?? false,
    cloud: isCloudAddress ? cloud : cloud && { ...cloud, baseUrlFor: () => url.origin },
    address: { href: url.href, key, other, ...ofAccount },
  }
}

/**
 * Returns the host to which the calls of a channel are sent. Returns null for an unknown type, for
 * a missing or invalid address, and for a cloud provider whose host follows from the key.
 */
export function hostOfChannel({
  type,
  baseUrl,
}: Pick<ChannelTerms, 'type' | 'baseUrl'>): string | null {
  const profile = profileOf(type) ?? taskProfileOf(type)
  if (profile === undefined) return null
  if (profile.cloud !== undefined && enteredBase(profile, baseUrl) === '') return null
  return URL.parse(baseOf(profile, baseUrl) ?? '')?.host ?? null
}

/**
 * Reports whether a key has the form that a cloud provider requires. All other providers accept any
 * key.
 */
export const acceptsKey = (profile: Profile, key: string, baseUrl: string): boolean =>
  profile.cloud?.({ key, other: '', baseUrl: enteredBase(profile, baseUrl) }) !== null

/**
 * Returns the base URL that the operator entered for a channel. Returns an empty string if the
 * channel has the default base URL of its type.
 */
const enteredBase = (profile: Profile, baseUrl: string): string =>
  baseUrl === profile.baseUrl ? '' : baseUrl

const placedBelow = ({ pathname }: URL, path: string): string =>
  path.includes(CHAT_END) ? pathBelow(pathname, path) : pathOutsideVersion(pathname, path)

const OTHER_PATHS = ['streamPath', 'compactPath', 'betaPath', 'secondVersionPath'] as const

/** Returns the endpoints that are offered at an address, with their complete paths. */
function endpointsAt({ endpoints }: Profile, url: URL, other: string): readonly CallEndpoint[] {
  const at = `${url.hostname}${url.pathname}`
  return endpoints
    .filter(({ bases }) => bases?.test(at) !== false)
    .map((endpoint) => {
      const placed = (path: string) =>
        endpoint.bases === undefined ? placedBelow(url, path) : path
      const fill = (path: string) => withQuery(filled(placed(path), other), url.search)
      const others = OTHER_PATHS.flatMap((key) => {
        const { [key]: path } = endpoint
        return path === undefined ? [] : [[key, fill(path)] as const]
      })
      return { ...endpoint, path: fill(endpoint.path), ...Object.fromEntries(others) }
    })
}

/**
 * Limits the chat endpoints with `MODELS_WITH_CHATS` to the models that this channel's provider
 * serves by chats. All other endpoints are returned unchanged.
 */
function withServedModels(
  endpoints: readonly CallEndpoint[],
  terms: Parameters<typeof modelsWithChatsAt>[0],
  hostname: string,
): readonly CallEndpoint[] {
  return endpoints.map((endpoint) => {
    if (endpoint.models !== MODELS_WITH_CHATS) return endpoint
    const { models: _, ...ofAllModels } = endpoint
    const models = modelsWithChatsAt(terms, hostname)
    return models === undefined ? ofAllModels : { ...ofAllModels, models }
  })
}

/**
 * Reports whether chats to this target may name a deployment instead of a model. This is the case
 * at Azure, and if the path for chats contains the model's name. A deployment may have any name.
 * The paths of Azure's newer API contain no deployment, but the member `model` of its bodies names
 * one.
 */
export const isByDeployment = ({
  endpoints,
  profile,
}: Pick<ProviderTarget, 'endpoints' | 'profile'>): boolean =>
  profile.id === AZURE_TYPE ||
  endpoints.some(({ format, path }) => format === 'chat' && path.includes(MODEL_PLACEHOLDER))

/**
 * Returns the endpoint in the caller's format that serves the model. If there is none, returns the
 * endpoint to whose format the call is converted, or undefined. `model` is the provider's name for
 * the model.
 */
export const endpointOf = (
  { endpoints }: Pick<ProviderTarget, 'endpoints'>,
  format: FormatName,
  model: string,
): CallEndpoint | undefined => endpointFor(endpoints, format, model)

/**
 * Returns the path for a call in a format that the target offers. `model` is the provider's name
 * for the model.
 */
export function callPathOf(
  target: ProviderTarget,
  format: FormatName,
  { model, isStream }: PathParameters,
): string {
  const endpoint = endpointOf(target, format, model)
  const path = (isStream ? endpoint?.streamPath : undefined) ?? endpoint?.path ?? ''
  if (target.cloud !== null) return target.cloud.fillPath(path, model)
  if (!path.includes(MODEL_PLACEHOLDER)) return path
  if (endpoint?.format === 'gemini' && model.startsWith(TUNED)) {
    const name = encodeURIComponent(model.slice(TUNED.length))
    return path.replace(`models/${MODEL_PLACEHOLDER}`, () => `${TUNED}${name}`)
  }
  return path.replace(MODEL_PLACEHOLDER, () => encodeURIComponent(model))
}

/**
 * Returns the path for compacting conversations. Returns null if the target has none for the model.
 */
export const compactPathOf = ({ endpoints }: ProviderTarget, model: string): string | null =>
  endpointFor(endpoints, 'responses', model)?.compactPath ?? null

/**
 * Returns the path of a stored response. Returns null if the target has no endpoint for responses.
 */
export function responsesPathOf({ endpoints }: ProviderTarget, id: string): string | null {
  const path = endpoints.find(({ format }) => format === 'responses')?.path
  if (path === undefined) return null
  const [root, query] = path.split('?')
  return withQuery(`${root}/${encodeURIComponent(id)}`, query === undefined ? '' : `?${query}`)
}

/**
 * Builds a call in a format that the target offers. `headers` are added to the target's own
 * headers. If the target is a cloud, the call still lacks its credentials (see `authorizedCall`).
 */
export function providerCall(
  target: ProviderTarget,
  format: FormatName,
  path: PathParameters,
  { headers, body }: { readonly headers: readonly string[]; readonly body: Buffer },
): ProviderCall {
  const { cloud, origin } = target
  const takesBearer = endpointOf(target, format, path.model)?.takesBearer === true
  const own = takesBearer ? withBearer(target) : target.headers
  return {
    origin: cloud === null ? origin : new URL(cloud.baseUrlFor(path.model)).origin,
    path: callPathOf(target, format, path),
    headers: [...own, ...headers],
    body,
  }
}

/** Returns the target's headers, with the key as a bearer token. */
function withBearer({ profile, headers, address: { key } }: ProviderTarget): readonly string[] {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name === profile.keyHeader)
  return at < 0 ? headers : headers.toSpliced(at, 2, ...keyHeader(undefined, key))
}

/**
 * Returns a call to a cloud with its credentials added. Any other call is returned unchanged. The
 * promise rejects with a `CredentialsError` if the credentials could not be obtained.
 */
export const authorizedCall = (
  { cloud }: ProviderTarget,
  call: ProviderCall,
  connections: Connections,
): ProviderCall | Promise<ProviderCall> =>
  cloud === null ? call : cloud.authorize(call, connections)

/**
 * Returns the texts that messages to callers must not contain. These are the key and its parts, the
 * account in the field `other`, the host, and the proxy with its credentials.
 */
export function confidentialOf({ address, origin, proxy, cloud }: ProviderTarget): string[] {
  const { host, hostname } = new URL(origin)
  const { key, other } = address
  const via = proxy === null ? null : URL.parse(proxy)
  const ofProxy = via === null ? [] : [via.host, via.hostname, via.username, via.password]
  const parts = cloud === null ? [...key.split(/[.|:]/), other] : cloud.confidential()
  return [key, ...parts, host, hostname, ...ofProxy]
}

/**
 * Builds a request that is not a call, such as a request for the list of models. `isUnversioned`
 * means that `path` may be outside the versioned API (see `pathOutsideVersion`).
 */
export function providerRequest(
  { profile, origin, address }: ProviderTarget,
  path: string,
  options: { readonly isUnversioned: boolean; readonly keyHeader?: KeyHeader | undefined },
): { readonly url: string; readonly headers: Record<string, string> } {
  const { pathname, search } = new URL(address.href)
  const { organization = '' } = address
  const below = options.isUnversioned
    ? pathOutsideVersion(pathname, path)
    : pathBelow(pathname, path)
  const [name = '', value = ''] = keyHeader(options.keyHeader ?? profile.keyHeader, address.key)
  return {
    url: `${origin}${withQuery(filled(below, address.other), search)}`,
    headers: {
      [name]: value,
      ...(organization === '' ? {} : { [ORGANIZATION]: organization }),
      ...(isAnthropicProfile(profile) ? { 'anthropic-version': API_VERSION } : {}),
      'accept-encoding': 'identity',
      'user-agent': 'tallygate',
    },
  }
}

const isAnthropicProfile = ({ endpoints: [first] }: Profile): boolean =>
  first?.format === 'messages'

/**
 * Returns the address for a base URL or a keyword that an admin entered. An empty text selects the
 * provider's default address. Returns null if the provider has no default.
 */
export function baseOf(profile: Profile, text: string): string | null {
  if (text === '') return profile.baseUrl
  return profile.bases?.find(({ keyword }) => keyword === text)?.baseUrl ?? text
}

/**
 * Returns the channel's field `other` or its default. Returns null if the field is required and
 * empty. Returns an empty string if the channel's type has no such field.
 */
function otherOf({ fields = [] }: Profile, text: string): string | null {
  const field = fields.find(({ key }) => key === 'other')
  if (field === undefined) return ''
  const value = text === '' ? field.default : text
  return value === '' && field.isRequired ? null : value
}

const filled = (path: string, other: string): string =>
  path.replace('{other}', () => encodeURIComponent(other))

const withQuery = (path: string, search: string): string =>
  search.length < 2 ? path : `${path}${path.includes('?') ? '&' : '?'}${search.slice(1)}`

const keyHeader = (kind: KeyHeader | undefined, key: string): readonly string[] =>
  kind === undefined ? ['authorization', `Bearer ${key}`] : [kind, key]

/**
 * Reports whether a text consists of ASCII characters without control characters. A control
 * character could inject headers, and a character outside ASCII could make a request fail.
 */
const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)
