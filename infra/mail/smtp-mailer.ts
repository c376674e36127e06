import type { SMTPTransportOptions } from 'nodemailer'
import { openSocket } from '../outbound/guarded-connector.ts'
import { isLoopbackAddress, plainAddress } from '../outbound/ip-addresses.ts'
import { OutboundError, type OutboundPolicy } from '../outbound/outbound-policy.ts'
import { MAIL_MS_MAX, type MailErrorCode, type Mailer, MailFailed } from './port.ts'

/** The mail settings of the site. Without `host` or `from`, no mail can be sent. */
export type MailSettings = {
  readonly host: string
  readonly port: number
  /**
   * True means TLS from the first byte. False means STARTTLS if the server offers it. A login to
   * another machine requires TLS.
   */
  readonly isTls: boolean
  /** The user name for the mail server. If it is empty, the mailer does not log in. */
  readonly account: string
  readonly password: string
  readonly from: { readonly name: string; readonly address: string }
}

const STEP_MS_MAX = 5_000
const CONCURRENT_MAX = 32

/**
 * Creates a mailer that sends by SMTP. The settings are read for each mail. Each mail has a
 * separate connection, which `policy` must allow. `stepMsMax` limits the milliseconds for
 * connecting and for waiting for the server's greeting.
 */
export function createSmtpMailer(
  readSettings: () => Promise<MailSettings>,
  policy: OutboundPolicy,
  stepMsMax: number = STEP_MS_MAX,
): Mailer {
  let inFlight = 0
  return {
    send: async ({ to, subject, text, html }) => {
      if (inFlight >= CONCURRENT_MAX) throw new MailFailed('busy')
      inFlight += 1
      try {
        const settings = await readSettings()
        if (settings.host === '' || settings.from.address === '') {
          throw new MailFailed('not-set-up')
        }
        // The library is loaded for the first mail, because loading it would delay every start.
        const { createTransport } = await import('nodemailer')
        await createTransport(transportOf(settings, policy, stepMsMax)).sendMail({
          from: settings.from,
          // NOTE: nodemailer would parse a string as a list of addresses.
          to: { name: '', address: to },
          subject,
          text,
          ...(html === undefined ? {} : { html }),
          // Suppresses out-of-office replies, which could cause a mail loop.
          headers: { 'auto-submitted': 'auto-generated' },
          signal: AbortSignal.timeout(MAIL_MS_MAX),
        })
      } catch (error) {
        throw new MailFailed(errorCodeOf(error), { cause: error })
      } finally {
        inFlight -= 1
      }
    },
  }
}

function transportOf(
  settings: MailSettings,
  policy: OutboundPolicy,
  timeoutMs: number,
): SMTPTransportOptions {
  const { host, port, isTls, account, password } = settings
  const hasLogin = account !== '' && password !== ''
  return {
    host,
    port,
    secure: isTls,
    ...(hasLogin ? { auth: { user: account, pass: password } } : {}),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: MAIL_MS_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options, callback) => {
      openSocket(policy, { host, port, timeoutMs }).then((connection) => {
        const isHere = isLoopbackAddress(plainAddress(connection.remoteAddress ?? '') ?? '')
        // A server on this machine needs no TLS, and its certificate is rarely valid.
        callback(null, { connection, ...(isHere ? { ignoreTLS: true } : { requireTLS: hasLogin }) })
      }, callback)
    },
  }
}

/** The codes of nodemailer's errors, mapped to the codes of `MailFailed`. */
const BY_CODE: Readonly<Record<string, MailErrorCode>> = {
  EAUTH: 'login-refused',
  ENOAUTH: 'login-refused',
  ETLS: 'not-safe',
  ETIMEDOUT: 'timed-out',
  EABORT: 'timed-out',
  EENVELOPE: 'mail-refused',
  EMESSAGE: 'mail-refused',
}

function errorCodeOf(error: unknown): MailErrorCode {
  if (error instanceof MailFailed) return error.code
  if (error instanceof OutboundError) return 'not-allowed'
  const { code = '', originalCode = '' } = error as Readonly<Record<string, unknown>>
  if (TLS_CODES.test(String(originalCode))) return 'not-safe'
  return BY_CODE[String(code)] ?? 'unreachable'
}

/** Node's codes of a failed TLS handshake, which nodemailer reports as a plain socket error. */
const TLS_CODES = /CERT|SIGNED|VERIFY|ERR_TLS|ERR_SSL/
