import { callAt, RERANK_PATHS } from './call-paths.ts'
import { countWorkAt } from './count-tokens.ts'
import { modelInPath } from './gemini-paths.ts'
import { quotaLookUpAt } from './look-up-quota.ts'
import { isTaskPath } from './tasks/task-routes.ts'

const pathOf = (url: string): string => url.split('?', 1)[0] ?? ''

/**
 * Matches the paths of providers' versioned APIs, such as `/v1`, `/v1alpha` and `/v2`, of the
 * uploads of Google's clients, and the prefixes of OpenAI's API at Azure and of Anthropic's API at
 * many providers.
 */
const PROVIDER_PATH =
  /^\/(?:(?:upload\/)?v\d{1,2}(?:(?:alpha|beta)\d{0,2})?|openai|anthropic)(?:[/?]|$)/

/**
 * Reports whether the relay answers a request. The relay also answers requests with a provider's
 * path that it does not serve, and calls with a wrong base URL, so that the clients get errors in a
 * format that they can read.
 */
export const isRelayPath = (url: string, method?: string): boolean =>
  PROVIDER_PATH.test(url) ||
  isTaskPath(url) ||
  RERANK_PATHS.includes(pathOf(url)) ||
  quotaLookUpAt(pathOf(url)) !== null ||
  isPing(url, method) ||
  // Without `/v1`, only `/models` can be answered: the console has pages at paths such as
  // `/messages`. Clients in browsers first ask with OPTIONS whether they may send a request.
  (['GET', 'OPTIONS'].includes(method ?? '') && /^\/models(?:\/|$)/.test(pathOf(url))) ||
  (method === 'POST' && intendedPath(pathOf(url)) !== null)

/** Reports whether a request is `HEAD /`, by which some clients check the address. */
export const isPing = (url: string, method: string | undefined): boolean =>
  method === 'HEAD' && /^\/(?:\?|$)/.test(url)

/**
 * Matches any number of API versions at the start of a path, such as `/v1/v1beta`, after the prefix
 * of a provider.
 */
const VERSIONS = /^(?:\/openai(?:\/deployments\/[^/]+)?|\/anthropic)?(?:\/v1(?:alpha|beta)?)*(?=\/)/

/**
 * The maximum length of a path that is compared with the paths of calls. All paths of calls are
 * shorter, even with a model's name.
 */
const PATH_LENGTH_MAX = 512

/**
 * Returns the path that a client with a wrong base URL means. Such a URL lacks the version, or
 * contains a version although the client adds another one. A slash at the end of the path is
 * ignored. Returns null if the relay serves no such path.
 */
export function intendedPath(path: string): string | null {
  if (path.length > PATH_LENGTH_MAX) return null
  const rest = path.replace(/\/$/, '').replace(VERSIONS, '')
  const isServed = (one: string) =>
    callAt(one) !== null || countWorkAt(one) !== null || isModelLookUp(one, path)
  return ['/v1', '/v1beta'].map((version) => version + rest).find(isServed) ?? null
}

/**
 * Reports whether a path belongs to the list of models or to one model. The path of one model
 * counts only if it differs from `sent`, the path that the client sent, and names no method after a
 * colon.
 */
const isModelLookUp = (path: string, sent: string): boolean => {
  const model = modelInPath(path)
  return model === null || (model !== undefined && path !== sent && !path.includes(':'))
}
