import type { FastifyRequest } from 'fastify'
import { invalidField } from './http-error-class-and-catalogue.ts'

/**
 * Returns the value of `X-After-Position`: the position of the last event that the response of a
 * read must include. Returns null if the header is missing. Throws a 400 if the value is not a
 * whole number.
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

/**
 * Marks an access check that waits until the read models have reached `X-After-Position`. The
 * OpenAPI description of a route with this check lists the header.
 */
export function waitsForPosition<T extends object>(check: T): T {
  waiting.add(check)
  return check
}

/** Reports whether `waitsForPosition` has marked this check. */
export const readsAfterPosition = (check: unknown): boolean =>
  typeof check === 'function' && waiting.has(check)
