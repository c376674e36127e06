import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { request as call } from 'undici'
import { optionFlag, optionValue } from '#domain/options/registry.ts'
import type { Core } from '#infra/core.ts'
import { addressKey } from '#infra/http/address-key.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isFull } from '#infra/limits/port.ts'
import { createOutbound, MANAGEMENT_LIMITS } from '#infra/outbound/dispatcher.ts'
import { operatorPolicy } from '#infra/outbound/guard.ts'
import { allOptions } from '#projections/options/query.ts'
import { readSecretOption } from '../options/read-secret-option.ts'
import { loginError } from './login-errors.ts'

/** For which act a visitor solved the check; the console's widget says so to the provider. */
export type HumanAct = 'login' | 'register' | 'verification' | 'reset'

/**
 * Throws unless the visitor passed the human check, or none is asked for: that is while it is
 * switched off, or lacks one of its keys. Whatever can't be verified is refused.
 */
export type HumanCheck = {
  readonly pass: (request: FastifyRequest, act: HumanAct, token: string) => Promise<void>
  readonly close: () => Promise<void>
}

const PROVIDER = 'https://challenges.cloudflare.com/turnstile/v0/siteverify'
const VERIFY_MS_MAX = 5_000
const ANSWER_BYTES_MAX = 65_536
const TOKEN_LENGTH_MAX = 2_048
/** As long as the provider takes a token for valid. */
const TOKEN_MS = 300_000
const ASKED_MAX = 60
const ASKED_MS = 60_000

type Settings = {
  readonly secret: string
  readonly verifyUrl: string
  /** The site's own name. */
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
    pass: async (request, act, token) => {
      const settings = await settingsInForce(core, request)
      if (settings === null) return
      if (token === '') throw loginError('HumanCheckRequired')
      await mayAsk(core, request)
      const fault = await faultOf(act, token, settings, (given) =>
        verify(settings, given, request.ip),
      )
      if (fault === null && (await isFirstUse(core, token))) return
      core.log.info({ fault: fault ?? 'used before', act }, 'a human check was not passed')
      throw loginError('HumanCheckFailed')
    },
    close: outbound.close,
  }
}

/** A form of registration asks for its code with the widget that it has. */
const ACTIONS: Readonly<Record<HumanAct, readonly string[]>> = {
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

async function faultOf(
  act: HumanAct,
  token: string,
  { hostname: own }: Settings,
  verify: (token: string) => Promise<Verdict>,
): Promise<string | null> {
  if (token.length > TOKEN_LENGTH_MAX) return 'too long'
  try {
    const { success, hostname = '', action = '' } = await verify(token)
    if (success !== true) return 'not passed'
    if (hostname !== '' && hostname !== own) return 'solved at another site'
    return ACTIONS[act].includes(String(action)) ? null : 'solved for another act'
  } catch {
    return 'the provider can not be asked'
  }
}

/** So many a minute from one address: made-up tokens must not keep us asking the provider. */
async function mayAsk({ limits, vault }: Core, request: FastifyRequest): Promise<void> {
  const key = `human:${addressKey(vault, request.ip)}`
  const rate = { max: ASKED_MAX, periodMs: ASKED_MS, isRefundable: false }
  const outcome = await limits.enter('human-check', [{ kind: 'rate', key, ...rate }])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
}

/** Fifty at once with one token: one of them. */
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
  // NOTE: never also the request's, which its sender chooses, where the site's is known.
  const hostname = URL.canParse(address) ? new URL(address).hostname : request.hostname
  const verifyUrl = optionValue(values, 'TurnstileVerifyURL') || PROVIDER
  return { secret, verifyUrl, hostname }
}
