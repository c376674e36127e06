import type { TaskKind } from '#domain/tasks/events.ts'
import { type RelayError, relayError } from '../../canonical/relay-error.ts'
import { JIMENG_ACTIONS } from './jimeng-format-of-callers.ts'
import type { VideoAction } from './video-vendor.ts'

/** The API whose paths, requests and responses a caller uses for videos. */
export type VideoStyle = 'openai' | 'generic' | 'kling' | 'jimeng' | 'gemini'

export type VideoRoute = {
  readonly kind: Extract<TaskKind, 'video'>
  readonly style: VideoStyle
} & (
  | { readonly name: 'submit'; readonly model: string | null; readonly hasImage: boolean | null }
  | { readonly name: 'remix'; readonly id: string }
  | { readonly name: 'fetch'; readonly id: string }
  /** Shows a video, as `fetch` does. The body of the request, not its path, names the video. */
  | { readonly name: 'result' }
  /** Lists the caller's videos: in Kling's format those with this action, and otherwise all. */
  | { readonly name: 'list'; readonly action: VideoAction | null }
  | { readonly name: 'content'; readonly id: string }
  | { readonly name: 'delete'; readonly id: string }
)

const ID = '([\\w-]{1,64})'
const VIDEO = new RegExp(`^/v1/videos/${ID}(?:/(content|remix))?$`)
/** Matches the name of a method of OpenAI's API, which is at the place of a video's id. */
const METHOD_NAME = /^[a-z_]+$/
const GENERIC = /^\/v1\/video\/generations(?:\/([\w-]{1,64}))?$/
const KLING = /^\/kling\/v1\/videos\/(text2video|image2video)(?:\/([\w-]{1,64}))?$/
const JIMENG = /^\/jimeng\/?$/
const PREDICT = /^\/v1(?:beta)?\/models\/([^/]+):predictLongRunning$/
const OPERATION = /^\/v1(?:beta)?\/(?:models\/[^/]+\/)?operations\/([\w-]{1,64})$/
const DOWNLOAD = /^\/(?:v1(?:beta)?|download\/v1beta)\/files\/([0-9a-f]{32}):download$/

/** Matches all paths that belong to videos, including those without a route. */
const PREFIX =
  /^\/(?:v1\/videos?|kling|jimeng)(?:[/?]|$)|^\/v1(?:beta)?\/[^?]*(?::predictLongRunning|\/operations\/|operations\/)/

export const isVideoPath = (url: string): boolean =>
  PREFIX.test(url) || DOWNLOAD.test(url.split('?', 1)[0] ?? '')

export const videoStyleOf = (url: string): VideoStyle => {
  if (url.startsWith('/kling')) return 'kling'
  if (url.startsWith('/jimeng')) return 'jimeng'
  if (/^\/v1\/videos(?:[/?]|$)/.test(url)) return 'openai'
  return /^\/v1\/video(?:[/?]|$)/.test(url) ? 'generic' : 'gemini'
}

/**
 * A route with its HTTP method. `allowed` lists all methods of its path. Omitted if there is only
 * one. A route whose list contains `HEAD` also answers this method.
 */
export type MethodAndRoute<Route> = readonly [
  method: 'GET' | 'POST' | 'DELETE',
  route: Route,
  allowed?: string,
]

/**
 * Finds the video route for a path. Returns the route and the HTTP method that it requires, or null
 * if the path has no route. Returns an error if the `Action` of a request in Jimeng's format is
 * missing or unknown. `method` and `query` select between routes with the same path.
 */
export function videoRoute(
  method: string,
  path: string,
  query: URLSearchParams,
): MethodAndRoute<VideoRoute> | RelayError | null {
  if (JIMENG.test(path)) return jimengRoute(query.get('Action'))
  const at = <Route>(style: VideoStyle, route: Route) =>
    ({ kind: 'video', style, ...route }) as const
  if (path === '/v1/videos') {
    if (method === 'GET') return ['GET', at('openai', { name: 'list' as const, action: null })]
    const submit = { name: 'submit' as const, model: null, hasImage: null }
    return ['POST', at('openai', submit), 'GET, POST']
  }
  const [, id, action] = VIDEO.exec(path) ?? []
  if (id !== undefined) {
    // OpenAI's API has methods at paths such as `/v1/videos/edits`, which are not offered here.
    if (method === 'POST' && action === undefined && METHOD_NAME.test(id)) return null
    if (method === 'DELETE' && action === undefined) {
      return ['DELETE', at('openai', { name: 'delete' as const, id })]
    }
    if (action === 'remix') return ['POST', at('openai', { name: 'remix' as const, id })]
    if (action === 'content') {
      return ['GET', at('openai', { name: 'content' as const, id }), 'GET, HEAD']
    }
    return ['GET', at('openai', { name: 'fetch' as const, id }), 'GET, DELETE']
  }
  const generic = GENERIC.exec(path)
  if (generic !== null) return submitOrFetch('generic', null, generic[1])
  const kling = KLING.exec(path)
  if (kling !== null) return klingRoute(method, kling[1] === 'image2video', kling[2])
  const [, model] = PREDICT.exec(path) ?? []
  if (model !== undefined) {
    const submit = { name: 'submit' as const, model: decoded(model), hasImage: null }
    return ['POST', at('gemini', submit)]
  }
  const [, operation] = OPERATION.exec(path) ?? []
  if (operation !== undefined)
    return ['GET', at('gemini', { name: 'fetch' as const, id: operation })]
  const [, file] = DOWNLOAD.exec(path) ?? []
  return file === undefined
    ? null
    : ['GET', at('gemini', { name: 'content' as const, id: withHyphens(file) }), 'GET, HEAD']
}

function jimengRoute(action: string | null): MethodAndRoute<VideoRoute> | RelayError {
  const at = { kind: 'video', style: 'jimeng' } as const
  if (action === JIMENG_ACTIONS.result) return ['POST', { ...at, name: 'result' }]
  if (action === JIMENG_ACTIONS.submit) {
    return ['POST', { ...at, name: 'submit', model: null, hasImage: null }]
  }
  const isMissing = action === null || action === ''
  return relayError(isMissing ? 'missing_parameter' : 'invalid_parameter', { param: 'Action' })
}

const submitOrFetch = (
  style: VideoStyle,
  hasImage: boolean | null,
  id: string | undefined,
): MethodAndRoute<VideoRoute> | null =>
  id === undefined
    ? ['POST', { kind: 'video', style, name: 'submit', model: null, hasImage }]
    : ['GET', { kind: 'video', style, name: 'fetch', id }]

function klingRoute(
  method: string,
  hasImage: boolean,
  id: string | undefined,
): MethodAndRoute<VideoRoute> | null {
  if (id !== undefined) return submitOrFetch('kling', hasImage, id)
  const at = { kind: 'video', style: 'kling' } as const
  const action = hasImage ? 'IMAGE_TO_VIDEO' : 'TEXT_TO_VIDEO'
  if (method === 'GET') return ['GET', { ...at, name: 'list', action }]
  return ['POST', { ...at, name: 'submit', model: null, hasImage }, 'GET, POST']
}

const withHyphens = (hex: string): string =>
  hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
