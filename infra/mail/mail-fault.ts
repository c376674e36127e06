import { OutboundRefused } from '../outbound/guard.ts'
import { MailFailed, type MailFault } from './port.ts'

/** By nodemailer's codes of errors. */
const BY_CODE: Readonly<Record<string, MailFault>> = {
  EAUTH: 'login-refused',
  ENOAUTH: 'login-refused',
  ETLS: 'not-safe',
  ETIMEDOUT: 'timed-out',
  EABORT: 'timed-out',
  EENVELOPE: 'mail-refused',
  EMESSAGE: 'mail-refused',
}

/** What went wrong, from the error of a mail that was not sent. */
export function faultOf(error: unknown): MailFault {
  if (error instanceof MailFailed) return error.fault
  if (error instanceof OutboundRefused) return 'not-allowed'
  const { code = '', originalCode = '' } = error as Readonly<Record<string, unknown>>
  if (OF_TLS.test(String(originalCode))) return 'not-safe'
  return BY_CODE[String(code)] ?? 'unreachable'
}

/** Node's codes of a handshake that failed: nodemailer takes them for any fault of the socket. */
const OF_TLS = /CERT|SIGNED|VERIFY|ERR_TLS|ERR_SSL/
