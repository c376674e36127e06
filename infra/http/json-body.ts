import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fault } from './faults.ts'
import { scanJson } from './json-scan.ts'
import { refuseBadText } from './text-check.ts'

/** Bodies are `application/json` and nothing else (415), looked over before they are parsed. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJson(body),
  )
}

/** The value of a JSON body; undefined when it is empty. Throws a 400 that says what is wrong. */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw fault('InvalidText')
  const text = body.toString('utf8')
  scanJson(text)
  const value = parsed(text)
  refuseBadText(value, 'body')
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw fault('InvalidJson')
  }
}
