import type { FastifyRequest } from 'fastify'
import { centsOf } from '#domain/top-up/money.ts'
import { httpError } from '#infra/http/http-errors.ts'
import type { Action, Deps } from '../action.ts'
import { readEpayNotice } from './epay.ts'
import { paymentMethods, warnOfPartialConfig } from './payment-methods.ts'
import { takePayment } from './take-payment.ts'

const BODY_BYTES_MAX = 65_536
const PAID = 'TRADE_SUCCESS'

/**
 * GET and POST /api/user/epay/notify: the gateway says that an order was paid. Answers `success`,
 * after which it says no more, only once the credit is a fact; `fail` to anything else.
 */
export const notifyEpay: Action = (api, deps) => {
  void api.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: BODY_BYTES_MAX },
      async (_request: FastifyRequest, body: string) => new URLSearchParams(body),
    )
    scope.route({
      method: ['GET', 'POST'],
      url: '/api/user/epay/notify',
      schema: { summary: 'Where an epay gateway says that an order was paid' },
      handler: async (request, reply) => {
        const params = request.body instanceof URLSearchParams ? request.body : queryOf(request.url)
        const isCredited = await takeNotice(deps, params, request.id)
        return reply.type('text/plain; charset=utf-8').send(isCredited ? 'success' : 'fail')
      },
    })
  })
}

/** Read here, since the order and the repetition of fields count. */
const queryOf = (url: string): URLSearchParams =>
  new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '')

async function takeNotice(
  { core }: Deps,
  params: URLSearchParams,
  cause: string,
): Promise<boolean> {
  const ways = await paymentMethods(core)
  const { values, epay } = ways
  if (epay === null) {
    warnOfPartialConfig(core, ways)
    throw httpError('Unavailable')
  }
  const notice = readEpayNotice(params, epay.key)
  if (notice === null) return false
  const { merchant, tradeNo, paymentId, money, status } = notice
  const cents = centsOf(money)
  if (status !== PAID || cents === null) return false
  const said = { provider: 'epay', currency: 'CNY', merchant, tradeNo, paymentId, cents } as const
  return (await takePayment(core, values, said, cause)) !== 'refused'
}
