import { createTransport, type SMTPTransportOptions } from 'nodemailer'
import { isLoopbackAddress, plainAddress } from '../outbound/address.ts'
import { openSocket } from '../outbound/connector.ts'
import { OutboundError, type OutboundPolicy } from '../outbound/guard.ts'
import { MAIL_MS_MAX, type MailErrorCode, type Mailer, MailFailed } from './port.ts'

/** The operator's settings. With an empty `host` or `from` no mail can be sent. */
export type MailSettings = {
  readonly host: string
  readonly port: number
  /** Uses TLS from the first byte; otherwise STARTTLS where the server offers it. */
  readonly isTls: boolean
  /** Empty means without login. */
  readonly account: string
  readonly password: string
  readonly from: { readonly name: string; readonly address: string }
}

const STEP_MS_MAX = 5_000
const CONCURRENT_MAX = 32

/**
 * Sends mails by SMTP. Settings are read for each mail, so that a changed option applies to the
 * next one. Connections are opened under `policy`, one for each mail; `stepMsMax` bounds connecting
 * and the greeting.
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
        await createTransport(transportOf(settings, policy, stepMsMax)).sendMail({
          from: settings.from,
          // NOTE: nodemailer would parse a string as a list of addresses.
          to: { name: '', address: to },
          subject,
          text,
          ...(html === undefined ? {} : { html }),
          // Replies have no reader, and out-of-office replies would bounce back and forth.
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
        // Traffic on this machine can't be intercepted, and a local server's certificate is rarely
        // valid.
        callback(null, { connection, ...(isHere ? { ignoreTLS: true } : { requireTLS: hasLogin }) })
      }, callback)
    },
  }
}

/** Maps nodemailer's error codes. */
const BY_CODE: Readonly<Record<string, MailErrorCode>> = {
  EAUTH: 'login-refused',
  ENOAUTH: 'login-refused',
  ETLS: 'not-safe',
  ETIMEDOUT: 'timed-out',
  EABORT: 'timed-out',
  EENVELOPE: 'mail-refused',
  EMESSAGE: 'mail-refused',
}

/** Maps the error of a mail that was not sent to its code. */
function errorCodeOf(error: unknown): MailErrorCode {
  if (error instanceof MailFailed) return error.code
  if (error instanceof OutboundError) return 'not-allowed'
  const { code = '', originalCode = '' } = error as Readonly<Record<string, unknown>>
  if (TLS_CODES.test(String(originalCode))) return 'not-safe'
  return BY_CODE[String(code)] ?? 'unreachable'
}

/** Matches Node's codes of a failed handshake, which nodemailer reports as a plain socket error. */
const TLS_CODES = /CERT|SIGNED|VERIFY|ERR_TLS|ERR_SSL/
