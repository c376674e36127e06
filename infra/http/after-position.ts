import type { FastifyRequest } from 'fastify'
import { invalidField } from './faults.ts'

/**
 * The position that a read has to include, by `X-After-Position`; null when it need not wait.
 * Throws a 400 for anything but a whole number.
 */
export function afterPosition(request: FastifyRequest): number | null {
  const text = request.headers['x-after-position']
  if (text === undefined) return null
  const position = Number(text)
  if (typeof text !== 'string' || !/^\d{1,16}$/.test(text) || !Number.isSafeInteger(position)) {
    throw invalidField('X-After-Position', { zh: '必须是非负整数', en: 'must be a whole number' })
  }
  return position
}

const waiting = new WeakSet<object>()

/** Marks a route's check as one that waits for `X-After-Position`, for the route's description. */
export function waitsForPosition<T extends object>(check: T): T {
  waiting.add(check)
  return check
}

export const readsAfterPosition = (check: unknown): boolean =>
  typeof check === 'function' && waiting.has(check)
