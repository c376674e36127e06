import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { request as call } from 'undici'
import { optionFlag, optionValue } from '#domain/options/option-registry.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { addressKey } from '#infra/http/client-address-hash.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { isFull } from '#infra/limits/port.ts'
import { createOutbound, MANAGEMENT_LIMITS } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { allOptions } from '#projections/options/query.ts'
import { readSecretOption } from '../options/secret-option-in-vault.ts'
import { loginError } from './login-and-registration-errors.ts'

/**
 * The action for which a visitor solves the CAPTCHA. The console's widget sends the action to the
 * CAPTCHA provider.
 */
export type HumanCheckAction = 'login' | 'register' | 'verification' | 'reset'

/**
 * The CAPTCHA of the site. `pass` throws if the visitor did not solve the CAPTCHA, or if the
 * CAPTCHA's token cannot be verified. If the CAPTCHA is disabled or lacks a key, `pass` accepts
 * every visitor.
 */
export type HumanCheck = {
  readonly pass: (request: FastifyRequest, action: HumanCheckAction, token: string) => Promise<void>
  readonly close: () => Promise<void>
}

const PROVIDER = 'https://challenges.cloudflare.com/turnstile/v0/siteverify'
const VERIFY_MS_MAX = 5_000
const ANSWER_BYTES_MAX = 65_536
const TOKEN_LENGTH_MAX = 2_048
/** The time in milliseconds for which the CAPTCHA provider accepts a token. */
const TOKEN_MS = 300_000
const CHECKS_MAX = 60
const CHECKS_PERIOD_MS = 60_000

type Settings = {
  readonly secret: string
  readonly verifyUrl: string
  readonly hostname: string
}

export function createHumanCheck(core: Core): HumanCheck {
  const limits = { ...MANAGEMENT_LIMITS, maxResponseBytes: ANSWER_BYTES_MAX }
  const outbound = createOutbound(operatorPolicy(core.config), limits)
  const verify = async (settings: Settings, token: string, ip: string): Promise<Verdict> => {
    const { body } = await call(settings.verifyUrl, {
      dispatcher: outbound.dispatcher,
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'accept-encoding': 'identity',
      },
      body: new URLSearchParams({
        secret: settings.secret,
        response: token,
        remoteip: ip,
      }).toString(),
      signal: AbortSignal.timeout(VERIFY_MS_MAX),
    })
    return (await body.json()) as Verdict
  }
  return {
    pass: async (request, action, token) => {
      const settings = await settingsInForce(core, request)
      if (settings === null) return
      if (token === '') throw loginError('HumanCheckRequired')
      await limitChecks(core, request)
      const error = await failureOf(action, token, settings, (sentToken) =>
        verify(settings, sentToken, request.ip),
      )
      if (error === null && (await isFirstUse(core, token))) return
      core.log.info({ error: error ?? 'used before', action }, 'human check failed')
      throw loginError('HumanCheckFailed')
    },
    close: outbound.close,
  }
}

/**
 * For each action, the actions whose CAPTCHA tokens are accepted. Tokens without an action are
 * always accepted. For example, the registration form requests a mail code (`verification`) with
 * the token of the form's CAPTCHA (`register`).
 */
const WIDGET_ACTIONS: Readonly<Record<HumanCheckAction, readonly string[]>> = {
  login: ['', 'login'],
  register: ['', 'register'],
  verification: ['', 'verification', 'register'],
  reset: ['', 'reset'],
}

type Verdict = {
  readonly success?: unknown
  readonly hostname?: unknown
  readonly action?: unknown
}

async function failureOf(
  action: HumanCheckAction,
  token: string,
  { hostname: own }: Settings,
  verify: (token: string) => Promise<Verdict>,
): Promise<string | null> {
  if (token.length > TOKEN_LENGTH_MAX) return 'too long'
  try {
    const { success, hostname = '', action: solved = '' } = await verify(token)
    if (success !== true) return 'the provider did not accept it'
    if (hostname !== '' && hostname !== own) return 'solved at another site'
    return WIDGET_ACTIONS[action].includes(String(solved)) ? null : 'solved for another action'
  } catch {
    return 'the provider did not answer'
  }
}

/**
 * Throws 429 if an IP address causes too many checks per minute. Without this limit, requests with
 * invented tokens would make this server flood the CAPTCHA provider.
 */
async function limitChecks({ limits, vault }: Core, request: FastifyRequest): Promise<void> {
  const key = `human:${addressKey(vault, request.ip)}`
  const rate = { max: CHECKS_MAX, periodMs: CHECKS_PERIOD_MS, isRefundable: false }
  const outcome = await limits.enter('human-check', [{ kind: 'rate', key, ...rate }])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
}

/**
 * Reports whether a token is used for the first time. If several requests send the token at once,
 * only one of them succeeds.
 */
async function isFirstUse({ limits }: Core, token: string): Promise<boolean> {
  const key = `human:${createHash('sha256').update(token).digest('hex')}`
  const claim = { kind: 'rate', key, max: 1, periodMs: TOKEN_MS, isRefundable: false } as const
  return !isFull(await limits.enter('human-check', [claim]))
}

async function settingsInForce(core: Core, request: FastifyRequest): Promise<Settings | null> {
  const { values, secretRefs } = await allOptions(core.db)
  if (!optionFlag(values, 'TurnstileCheckEnabled')) return null
  if (optionValue(values, 'TurnstileSiteKey') === '') return null
  const secret = await readSecretOption(core, secretRefs, 'TurnstileSecretKey')
  if (secret === '') return null
  const address = optionValue(values, 'ServerAddress')
  // NOTE: the sender chooses the host name in a request. This host name is therefore only used if
  // the site's address is not configured.
  const hostname = URL.canParse(address) ? new URL(address).hostname : request.hostname
  const verifyUrl = optionValue(values, 'TurnstileVerifyURL') || PROVIDER
  return { secret, verifyUrl, hostname }
}
