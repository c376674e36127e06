import { createTransport, type SMTPTransportOptions } from 'nodemailer'
import { isLoopbackAddress, plainAddress } from '../outbound/address.ts'
import { openSocket } from '../outbound/connector.ts'
import { OutboundError, type OutboundPolicy } from '../outbound/guard.ts'
import { MAIL_MS_MAX, type MailErrorCode, type Mailer, MailFailed } from './port.ts'

/** What the operator entered; `host` or `from` empty: no mail can be sent. */
export type MailSettings = {
  readonly host: string
  readonly port: number
  /** TLS from the first byte; else STARTTLS where the server offers it. */
  readonly isTls: boolean
  /** Empty: no login. */
  readonly account: string
  readonly password: string
  readonly from: { readonly name: string; readonly address: string }
}

const STEP_MS_MAX = 5_000
const AT_ONCE_MAX = 32

/**
 * Mails by SMTP, by the settings of the moment: a changed option acts on the next mail. Connections
 * are opened under `policy`, one for each mail; `stepMsMax` bounds connecting and the greeting.
 */
export function createSmtpMailer(
  readSettings: () => Promise<MailSettings>,
  policy: OutboundPolicy,
  stepMsMax: number = STEP_MS_MAX,
): Mailer {
  let underWay = 0
  return {
    send: async ({ to, subject, text, html }) => {
      if (underWay >= AT_ONCE_MAX) throw new MailFailed('busy')
      underWay += 1
      try {
        const settings = await readSettings()
        if (settings.host === '' || settings.from.address === '') {
          throw new MailFailed('not-set-up')
        }
        await createTransport(transportOf(settings, policy, stepMsMax)).sendMail({
          from: settings.from,
          // NOTE: as an object: a text would be read as a list of addresses.
          to: { name: '', address: to },
          subject,
          text,
          ...(html === undefined ? {} : { html }),
          // Nobody answers it: out-of-office replies would come back for ever.
          headers: { 'auto-submitted': 'auto-generated' },
          signal: AbortSignal.timeout(MAIL_MS_MAX),
        })
      } catch (error) {
        throw new MailFailed(faultOf(error), { cause: error })
      } finally {
        underWay -= 1
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
        // On this machine nobody listens in, and its certificate is rarely one to believe.
        callback(null, { connection, ...(isHere ? { ignoreTLS: true } : { requireTLS: hasLogin }) })
      }, callback)
    },
  }
}

/** By nodemailer's codes of errors. */
const BY_CODE: Readonly<Record<string, MailErrorCode>> = {
  EAUTH: 'login-refused',
  ENOAUTH: 'login-refused',
  ETLS: 'not-safe',
  ETIMEDOUT: 'timed-out',
  EABORT: 'timed-out',
  EENVELOPE: 'mail-refused',
  EMESSAGE: 'mail-refused',
}

/** What went wrong, from the error of a mail that was not sent. */
function faultOf(error: unknown): MailErrorCode {
  if (error instanceof MailFailed) return error.fault
  if (error instanceof OutboundError) return 'not-allowed'
  const { code = '', originalCode = '' } = error as Readonly<Record<string, unknown>>
  if (OF_TLS.test(String(originalCode))) return 'not-safe'
  return BY_CODE[String(code)] ?? 'unreachable'
}

/** Node's codes of a handshake that failed: nodemailer takes them for any fault of the socket. */
const OF_TLS = /CERT|SIGNED|VERIFY|ERR_TLS|ERR_SSL/
