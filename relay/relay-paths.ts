import { callAt, RERANK_PATHS } from './call-paths.ts'
import { countWorkAt } from './count-tokens.ts'
import { modelInPath } from './gemini-paths.ts'
import { quotaLookUpAt } from './look-up-quota.ts'
import { isTaskPath } from './tasks/task-routes.ts'

const pathOf = (url: string): string => url.split('?', 1)[0] ?? ''

/**
 * Reports whether the relay answers a request. It also answers uploads of Google's clients and
 * calls of a client with a wrong base URL, so that their errors have a format that clients read.
 */
export const isRelayPath = (url: string, method?: string): boolean =>
  /^\/(?:upload\/)?v1(?:beta)?(?:[/?]|$)/.test(url) ||
  isTaskPath(url) ||
  RERANK_PATHS.includes(pathOf(url)) ||
  quotaLookUpAt(pathOf(url)) !== null ||
  isPing(url, method) ||
  // The console has pages at other paths of calls, such as `/messages`, but none at `/models`.
  // Clients in browsers first ask with OPTIONS whether they may send a request.
  (['GET', 'OPTIONS'].includes(method ?? '') && /^\/models(?:\/|$)/.test(pathOf(url))) ||
  (method === 'POST' && intendedPath(pathOf(url)) !== null)

/** Some clients send `HEAD /` to find out whether the address is right. */
export const isPing = (url: string, method: string | undefined): boolean =>
  method === 'HEAD' && /^\/(?:\?|$)/.test(url)

/** Matches the versions at the start of a path, of which there may be none or several. */
const VERSIONS = /^(?:\/v1(?:beta)?)*(?=\/)/

/** The maximum length of a path that is compared with those of calls. Models' names are shorter. */
const PATH_LENGTH_MAX = 512

/**
 * Returns the path that a client means whose base URL lacks `/v1` or has it although the client
 * adds it, or whose path ends with a slash. Returns null if there is no such path.
 */
export function intendedPath(path: string): string | null {
  if (path.length > PATH_LENGTH_MAX) return null
  const rest = path.replace(/\/$/, '').replace(VERSIONS, '')
  const isServed = (one: string) =>
    callAt(one) !== null || countWorkAt(one) !== null || isModelLookUp(one, path)
  return ['/v1', '/v1beta'].map((version) => version + rest).find(isServed) ?? null
}

/** Reports whether a path is that of the list of models, or of a model and differs from `sent`. */
const isModelLookUp = (path: string, sent: string): boolean => {
  const model = modelInPath(path)
  return model === null || (model !== undefined && path !== sent && !path.includes(':'))
}
