import type { JsonObject } from '#relay/canonical/json-values.ts'
import { BETA_HEADER, betasIn, headerIn, withoutHeaders } from '#relay/providers/header-list.ts'
import {
  MODEL_PLACEHOLDER,
  type OpenCloud,
  type ProviderCall,
} from '#relay/providers/provider-access-and-decoder-types.ts'
import {
  GoogleAccessTokens,
  readServiceAccount,
  type ServiceAccount,
} from './google-access-tokens.ts'

/** How the request bodies of Vertex AI differ from those of Anthropic's Messages API. */
export const VERTEX_ENVELOPE = {
  removed: new Set(['model', 'anthropic_version']),
  added: new Map([['anthropic_version', '"vertex-2023-10-16"']]),
}

/** Matches Google's API keys, such as `AIza…` and `AQ.…`. */
const API_KEY = /^[\w.-]+$/
const DEFAULT_REGION = 'global'
const REGION = /^[a-z]+(?:-[a-z]+\d+)?$/

type RegionOf = (model: string) => string

/**
 * Reads the channel's field `other`: one region, or a JSON object with a region for each model and
 * a region `default` for all other models. Without a region, `global` is used. Returns null if the
 * field is malformed.
 */
function readRegions(text: string): { regionOf: RegionOf; regions: readonly string[] } | null {
  const entered = text.trim()
  if (!entered.startsWith('{')) {
    const region = entered === '' ? DEFAULT_REGION : entered
    return REGION.test(region) ? { regionOf: () => region, regions: [region] } : null
  }
  try {
    const byModel = new Map(Object.entries(JSON.parse(entered) as Record<string, unknown>))
    const regions = [...byModel.values()].filter((region) => typeof region === 'string')
    if (regions.length < byModel.size || !regions.every((region) => REGION.test(region))) {
      return null
    }
    const regionOf: RegionOf = (model) =>
      String(byModel.get(model) ?? byModel.get('default') ?? DEFAULT_REGION)
    return { regionOf, regions: [...regions, DEFAULT_REGION] }
  } catch {
    return null
  }
}

/** Returns Google's host name for a region, for a multi-region (`us`, `eu`) or for `global`. */
function hostOf(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com'
  const isMultiple = !region.includes('-')
  return isMultiple
    ? `aiplatform.${region}.rep.googleapis.com`
    : `${region}-aiplatform.googleapis.com`
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token'
const TOKEN_HOSTS = new Set(['oauth2.googleapis.com', 'accounts.google.com', 'www.googleapis.com'])

/**
 * Returns the address of the token endpoint in the key file, or Google's if the file names none.
 * Returns null unless the address has a host of Google or the origin of the base URL that the
 * operator has entered. Without this check, a key file of unknown origin could name a server that
 * would then receive usable assertions.
 */
function tokenUrlOf({ tokenUri }: ServiceAccount, baseUrl: string): string | null {
  if (tokenUri === '') return TOKEN_URL
  if (!URL.canParse(tokenUri)) return null
  const url = new URL(tokenUri)
  const isPlain = url.username === '' && url.password === ''
  const isGoogleHost = url.protocol === 'https:' && url.port === '' && TOKEN_HOSTS.has(url.hostname)
  const isOperatorHost = URL.canParse(baseUrl) && new URL(baseUrl).origin === url.origin
  return isPlain && (isGoogleHost || isOperatorHost) ? url.href : null
}

/**
 * Returns Vertex AI's name for a model. If Anthropic's name ends with a hyphen and a date, Vertex
 * AI replaces this hyphen by `@`.
 */
const vertexModel = (model: string): string =>
  model.startsWith('claude-') ? model.replace(/-(\d{8})$/, '@$1') : model

const encodedModel = (model: string): string =>
  encodeURIComponent(vertexModel(model)).replace('%40', '@')

/**
 * The part of a path that is omitted if an API key is used, because the key itself belongs to a
 * project.
 */
const PROJECT_PATH = '/projects/{project}/locations/{region}'

/**
 * Matches betas that only Anthropic's own API knows. These betas are not sent, because clients send
 * them to all providers, and Vertex AI refuses a call with an unknown beta.
 */
const ANTHROPICS_OWN_BETA = /^(?:oauth|prompt-caching-scope|redact-thinking|mcp-servers)-\d/

const takesBeta = (beta: string): boolean => !ANTHROPICS_OWN_BETA.test(beta)

/**
 * Removes the header `anthropic-version`, which Vertex AI expects as a member of the body, and the
 * betas that Vertex AI refuses.
 */
function withVertexHeaders(call: ProviderCall): ProviderCall {
  const betas = betasIn(headerIn(call.headers, BETA_HEADER)).filter(takesBeta)
  const rest = withoutHeaders(
    call.headers,
    (name) => name === 'anthropic-version' || name === BETA_HEADER,
  )
  const headers = betas.length === 0 ? rest : [...rest, BETA_HEADER, betas.join(',')]
  return { ...call, headers }
}

/** Returns the texts in a key file that are secret or identify the account. */
function secretsIn(key: string): string[] {
  const file = JSON.parse(key) as JsonObject
  const isPublic = (text: string) => /^https:|^service_account$|^googleapis\.com$/.test(text)
  const texts = Object.values(file).filter((text) => typeof text === 'string')
  const own = texts.filter((text) => !isPublic(text))
  // Each line of the private key is listed separately, because an error may repeat single lines.
  return own.flatMap((text) => [
    text,
    ...text.split('\n').filter((line) => !line.startsWith('-----')),
  ])
}

/**
 * Returns the access to Gemini and Claude on Google's Vertex AI, with a service account's key file
 * or with an API key. Returns null if the key or the regions are malformed. An API key can be used
 * only for Gemini.
 */
export const openVertex: OpenCloud = ({ key, other, baseUrl }) => {
  const settings = readRegions(other)
  if (settings === null) return null
  const { regionOf, regions } = settings
  const address = {
    baseUrlFor: (model: string) => `https://${hostOf(regionOf(model))}`,
    takesBeta,
    decoder: null,
  }
  const hosts = [...regions.map(hostOf)]
  if (!key.trimStart().startsWith('{')) {
    if (!API_KEY.test(key)) return null
    return {
      ...address,
      fillPath: (path, model) =>
        path.replace(PROJECT_PATH, '').replace(MODEL_PLACEHOLDER, () => encodedModel(model)),
      authorize: async (call) => {
        const { headers, ...rest } = withVertexHeaders(call)
        return { ...rest, headers: [...headers, 'x-goog-api-key', key] }
      },
      dropCredentials: () => {},
      confidential: () => [key, ...hosts],
    }
  }
  const account = readServiceAccount(key)
  const tokenUrl = account === null ? null : tokenUrlOf(account, baseUrl)
  if (account === null || tokenUrl === null) return null
  const tokens = new GoogleAccessTokens(account, tokenUrl)
  const secrets = secretsIn(key)
  return {
    ...address,
    fillPath: (path, model) =>
      path
        .replace('{project}', () => encodeURIComponent(account.projectId))
        .replace('{region}', () => regionOf(model))
        .replace(MODEL_PLACEHOLDER, () => encodedModel(model)),
    authorize: async (call, connections) => {
      const token = await tokens.token(connections)
      const { headers, ...rest } = withVertexHeaders(call)
      return { ...rest, headers: [...headers, 'authorization', `Bearer ${token}`] }
    },
    dropCredentials: () => tokens.drop(),
    confidential: () => [...secrets, tokens.current, ...hosts],
  }
}
