import type { FastifyRequest } from 'fastify'
import type { RedemptionRequest } from '#domain/redemption/events.ts'
import { principalOf } from '#infra/http/access.ts'
import { invalidField } from '#infra/http/faults.ts'
import type { Vault } from '#infra/vault/port.ts'
import { redemptionKeyFrom } from './redemption-key.ts'

/** As the relay takes them. */
const KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/

export type Repeatable = {
  readonly request: RedemptionRequest
  /** The same for each repeat: nothing needs to be kept, to be answered again. */
  readonly keyAt: (index: number) => string
}

/**
 * What a request with an `Idempotency-Key` is known by, once its answer was lost: its sender, the
 * key and what it asks for. null without the header.
 */
export function repeatableOf(
  vault: Pick<Vault, 'keyedHash'>,
  request: FastifyRequest,
  asked: object,
): Repeatable | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !KEY.test(key)) {
    const fault = { zh: '必须是 1-255 个可见的 ASCII 字符', en: 'must be 1-255 ASCII characters' }
    throw invalidField('Idempotency-Key', fault)
  }
  const hash = (text: string): string => vault.keyedHash('redemption-request', text)
  const sent = `${principalOf(request).userId} ${key}`
  return {
    request: { key: hash(`request ${sent}`), content: hash(`content ${JSON.stringify(asked)}`) },
    keyAt: (index) => redemptionKeyFrom(Buffer.from(hash(`key ${index} ${sent}`), 'hex')),
  }
}
