import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export type ReceivedMail = {
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  /** The decoded plain text. */
  readonly text: string
  /** The received mail without decoding. */
  readonly raw: string
  readonly account: string
}

export type MailServer = {
  readonly port: number
  readonly mails: readonly ReceivedMail[]
  /**
   * Resolves with the next mail to this address, which may have arrived before. Returns each mail
   * once.
   */
  readonly mailTo: (address: string) => Promise<ReceivedMail>
  readonly close: () => Promise<void>
}

const WAIT_MS_MAX = 20_000
const STEP_MS = 20

/** A real SMTP server in this process. The only accepted password is `mail-password`. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const given = new Set<ReceivedMail>()
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onAuth: ({ username = '', password }, _session, callback) =>
      password === 'mail-password'
        ? callback(null, { user: username })
        : callback(new Error('535 wrong password')),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          account: typeof session.user === 'string' ? session.user : '',
          ...readMail(Buffer.concat(chunks).toString('latin1')),
        })
        callback()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.server.address() as AddressInfo
  const mailTo = async (address: string) => {
    for (let waited = 0; waited < WAIT_MS_MAX; waited += STEP_MS) {
      const mail = mails.find((one) => one.to.includes(address) && !given.has(one))
      if (mail !== undefined) {
        given.add(mail)
        return mail
      }
      await new Promise((resolve) => setTimeout(resolve, STEP_MS))
    }
    throw new Error(`no mail came to ${address}`)
  }
  return { port, mails, mailTo, close: () => new Promise((done) => server.close(() => done())) }
}

/** Parses a mail that nodemailer has written. */
function readMail(raw: string): Pick<ReceivedMail, 'subject' | 'text' | 'raw'> {
  const headers = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ')
  const subject = /^subject: (.*)$/im.exec(headers)?.[1] ?? ''
  const boundary = /boundary="([^"]+)"/i.exec(headers)?.[1]
  const parts = boundary === undefined ? [raw] : raw.split(`--${boundary}`).slice(1)
  const plain = parts.find((part) => /content-type: text\/plain/i.test(part)) ?? raw
  const split = plain.indexOf('\r\n\r\n')
  const [head, body] = [plain.slice(0, split), plain.slice(split + 4)]
  const encoding = /content-transfer-encoding: (\S+)/i.exec(head)?.[1]?.toLowerCase() ?? '7bit'
  return { subject: decodeWords(subject), text: decodeBody(body, encoding), raw }
}

function decodeBody(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  if (encoding === 'quoted-printable') return decodeQuoted(body.replace(/=\r\n/g, ''))
  return Buffer.from(body, 'latin1').toString()
}

const decodeQuoted = (text: string): string =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    ),
    'latin1',
  ).toString()

const decodeWords = (text: string): string =>
  text
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : decodeQuoted(word.replace(/_/g, ' ')),
    )
