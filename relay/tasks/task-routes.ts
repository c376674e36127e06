import type { TaskKind } from '#domain/tasks/events.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { queryIn } from '../pipeline/http-exchange.ts'
import { type CallbackPath, callbackPath } from './handle-callback.ts'
import { type DrawingReader, drawingReader } from './read-drawing-request.ts'
import { musicAction } from './read-music-request.ts'
import type { TaskFile } from './serve-drawing-file.ts'
import {
  isVideoPath,
  type MethodAndRoute,
  type VideoRoute,
  videoRoute,
} from './videos/video-routes.ts'

export type TaskRoute =
  | ({ readonly name: 'image' } & TaskFile)
  | { readonly name: 'fetch'; readonly id: string }
  | { readonly name: 'seed'; readonly id: string }
  | { readonly name: 'list' }
  | ({ readonly name: 'notify' } & CallbackPath)
  | {
      readonly name: 'draw'
      readonly path: string
      readonly mode: string | null
      readonly reader: DrawingReader
    }
  | { readonly name: 'compose'; readonly action: string }
  | VideoRoute

const PREFIX = /^\/(?:(?:(?:mj-)?(fast|relax|turbo)\/)?mj|suno)(?=[/?]|$)/

/** Reports whether a URL belongs to the task API: `/mj/…`, `/{mode}/mj/…`, `/suno/…` or videos. */
export const isTaskPath = (url: string): boolean => PREFIX.test(url) || isVideoPath(url)

export const kindOf = (url: string): TaskKind => {
  if (isVideoPath(url)) return 'video'
  return url.startsWith('/suno') ? 'music' : 'drawing'
}

export function taskRoute(method: string, url: string): TaskRoute | RelayError {
  const [prefix = '', mode = ''] = PREFIX.exec(url) ?? []
  const query = url.indexOf('?')
  const path = url.slice(prefix.length, query < 0 ? url.length : query)
  if (prefix === '') {
    const found = videoRoute(method, path, queryIn(url))
    return found !== null && isRelayError(found) ? found : routeFor(method, found)
  }
  const found = prefix === '/suno' ? musicRoute(path) : drawingRoute(path, mode.toUpperCase())
  return routeFor(method, found)
}

function routeFor(method: string, found: Found): TaskRoute | RelayError {
  if (found === null) return relayError('not_found')
  const [verb, route, allowed = verb] = found
  const isHead = method === 'HEAD' && allowed.includes('HEAD')
  if (verb === method || isHead) return route
  return relayError('method_not_allowed', { subject: allowed })
}

type Found = MethodAndRoute<TaskRoute> | null

function musicRoute(path: string): Found {
  if (path === '/fetch') return ['POST', { name: 'list' }]
  const [, name, last = '', ...more] = path.split('/')
  if (last === '' || more.length > 0) return null
  if (name === 'fetch') return ['GET', { name: 'fetch', id: last }]
  const action = name === 'submit' ? musicAction(last) : undefined
  return action === undefined ? null : ['POST', { name: 'compose', action }]
}

const TASK_PATH = /^\/task\/([^/]+)\/(fetch|image-seed)$/
const FILE = /^\/(?:image\/([0-9a-f-]{36})|video\/([0-9a-f-]{36})\/(\d))$/

function drawingRoute(path: string, mode: string): Found {
  const reader = drawingReader(path)
  if (reader !== undefined) {
    return ['POST', { name: 'draw', path, mode: mode === '' ? null : mode, reader }]
  }
  if (path === '/task/list-by-condition') return ['POST', { name: 'list' }]
  const [, id = '', what] = TASK_PATH.exec(path) ?? []
  if (what === 'fetch') return ['GET', { name: 'fetch', id }]
  if (what !== undefined) return ['GET', { name: 'seed', id }]
  const [, image, video, index] = FILE.exec(path) ?? []
  const file = image ?? video
  if (file !== undefined) {
    const videoIndex = index === undefined ? null : Number(index)
    return ['GET', { name: 'image', task: file, videoIndex }, 'GET, HEAD']
  }
  const notice = callbackPath(path)
  return notice === null ? null : ['POST', { name: 'notify', ...notice }]
}
