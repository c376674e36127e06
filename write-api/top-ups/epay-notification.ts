import type { FastifyRequest } from 'fastify'
import { centsOf } from '#domain/top-ups/money.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Action, Deps } from '../action.ts'
import { applyPayment } from './apply-payment.ts'
import { paymentMethods, warnOfPartialConfig } from './configured-payment-methods.ts'
import { readEpayNotification } from './epay.ts'

const BODY_BYTES_MAX = 65_536
const PAID = 'TRADE_SUCCESS'

/**
 * GET and POST /api/user/epay/notify: receives the gateway's notification of a paid order. The
 * response is `success` if the credit is committed, otherwise `fail`, or status 503 if the gateway
 * is not configured. The gateway repeats the notification until it receives `success`.
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
      schema: { summary: 'Receives payment notifications of an epay gateway' },
      handler: async (request, reply) => {
        const params = request.body instanceof URLSearchParams ? request.body : queryOf(request.url)
        const isCredited = await applyNotice(deps, params, request.id)
        return reply.type('text/plain; charset=utf-8').send(isCredited ? 'success' : 'fail')
      },
    })
  })
}

/**
 * Returns the parameters in the query of a URL, including repeated parameters. A notification with
 * repeated parameters is rejected.
 */
const queryOf = (url: string): URLSearchParams =>
  new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '')

async function applyNotice(
  { core }: Deps,
  params: URLSearchParams,
  cause: string,
): Promise<boolean> {
  const methods = await paymentMethods(core)
  const { values, epay } = methods
  if (epay === null) {
    warnOfPartialConfig(core, methods)
    throw httpError('Unavailable')
  }
  const notice = readEpayNotification(params, epay.key)
  if (notice === null) return false
  const { merchant, tradeNo, paymentId, money, status } = notice
  const cents = centsOf(money)
  if (status !== PAID || cents === null) return false
  const payment = {
    provider: 'epay',
    currency: 'CNY',
    merchant,
    tradeNo,
    paymentId,
    cents,
  } as const
  return (await applyPayment(core, values, payment, cause)) !== 'rejected'
}
