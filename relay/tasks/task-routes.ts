import type { TaskKind } from '#domain/task/events.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { type DrawingReader, drawingReader } from './drawing-requests.ts'
import { musicAction } from './music-requests.ts'
import { type NotifyPath, notifyPath } from './notify.ts'

export type TaskRoute =
  | { readonly act: 'image'; readonly id: string }
  | { readonly act: 'fetch'; readonly id: string }
  | { readonly act: 'seed'; readonly id: string }
  | { readonly act: 'list' }
  | ({ readonly act: 'notify' } & NotifyPath)
  | {
      readonly act: 'draw'
      readonly path: string
      readonly mode: string | null
      readonly reader: DrawingReader
    }
  | { readonly act: 'compose'; readonly action: string }

const PREFIX = /^\/(?:(?:(?:mj-)?(fast|relax|turbo)\/)?mj|suno)(?=[/?]|$)/

/** Paths of tasks: `/mj/…`, `/{mode}/mj/…`, `/suno/…`. */
export const isTaskPath = (url: string): boolean => PREFIX.test(url)

export const kindOf = (url: string): TaskKind => (url.startsWith('/suno') ? 'music' : 'drawing')

export function taskRoute(method: string, url: string): TaskRoute | RelayError {
  const [prefix = '', mode = ''] = PREFIX.exec(url) ?? []
  const query = url.indexOf('?')
  const path = url.slice(prefix.length, query < 0 ? url.length : query)
  const found = prefix === '/suno' ? musicRoute(path) : drawingRoute(path, mode.toUpperCase())
  if (found === null) return relayError('not_found')
  const [verb, route] = found
  return verb === method ? route : relayError('method_not_allowed', { subject: verb })
}

type Found = readonly ['GET' | 'POST', TaskRoute] | null

function musicRoute(path: string): Found {
  if (path === '/fetch') return ['POST', { act: 'list' }]
  const [, act, last = '', ...more] = path.split('/')
  if (last === '' || more.length > 0) return null
  if (act === 'fetch') return ['GET', { act: 'fetch', id: last }]
  const action = act === 'submit' ? musicAction(last) : undefined
  return action === undefined ? null : ['POST', { act: 'compose', action }]
}

const OF_TASK = /^\/task\/([^/]+)\/(fetch|image-seed)$/
const IMAGE = /^\/image\/([0-9a-f-]{36})$/

function drawingRoute(path: string, mode: string): Found {
  const reader = drawingReader(path)
  if (reader !== undefined) {
    return ['POST', { act: 'draw', path, mode: mode === '' ? null : mode, reader }]
  }
  if (path === '/task/list-by-condition') return ['POST', { act: 'list' }]
  const [, id = '', what] = OF_TASK.exec(path) ?? []
  if (what !== undefined) return ['GET', { act: what === 'fetch' ? 'fetch' : 'seed', id }]
  const [, image] = IMAGE.exec(path) ?? []
  if (image !== undefined) return ['GET', { act: 'image', id: image }]
  const notice = notifyPath(path)
  return notice === null ? null : ['POST', { act: 'notify', ...notice }]
}
