import { connect, type Socket } from 'node:net'

const HEAD_END = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

export type Answer = {
  readonly isGood: boolean
  readonly status: number
  readonly firstByteUs: number
  readonly totalUs: number
  readonly requestId: string
}

/** A keep-alive connection that measures response times with almost no CPU time. */
export class LoadConnection {
  readonly #host: string
  readonly #port: number
  #socket: Socket
  #done: ((answer: Answer) => void) | null = null
  #startedAt = 0n
  #firstByteAt = 0n
  #head: Buffer | null = null
  #status = 0
  #requestId = ''
  #bytesLeft = -1
  #tail = Buffer.alloc(0)
  /** True if the server closes the connection after the present response. */
  #isLast = false
  #isClosed = false

  constructor(host: string, port: number) {
    this.#host = host
    this.#port = port
    this.#socket = this.#open()
  }

  send(request: Buffer, done: (answer: Answer) => void): void {
    if (this.#isClosed) return
    this.#done = done
    this.#startedAt = process.hrtime.bigint()
    this.#firstByteAt = 0n
    this.#head = null
    this.#status = 0
    this.#bytesLeft = -1
    this.#isLast = false
    this.#tail = Buffer.alloc(0)
    if (this.#socket.destroyed) this.#socket = this.#open()
    this.#socket.write(request)
  }

  /** A pending request gets no response. */
  close(): void {
    this.#isClosed = true
    this.#done = null
    this.#socket.destroy()
  }

  #open(): Socket {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true })
    const isCurrent = (): boolean => socket === this.#socket
    socket.on('data', (bytes) => {
      if (isCurrent()) this.#read(bytes as Buffer)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      if (isCurrent()) this.#finish(false)
    })
    return socket
  }

  #read(bytes: Buffer): void {
    if (this.#done === null) return
    if (this.#firstByteAt === 0n) this.#firstByteAt = process.hrtime.bigint()
    let body = bytes
    if (this.#status === 0) {
      const head = this.#head === null ? bytes : Buffer.concat([this.#head, bytes])
      const end = head.indexOf(HEAD_END)
      if (end < 0) {
        this.#head = head
        return
      }
      this.#readHead(head.toString('latin1', 0, end))
      body = head.subarray(end + 4)
    }
    this.#readBody(body)
  }

  #readHead(text: string): void {
    this.#status = Number(text.slice(9, 12))
    this.#requestId = /\r\nx-request-id: ([^\r]+)/i.exec(text)?.[1] ?? ''
    const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
    if (length !== undefined) this.#bytesLeft = Number(length)
    this.#isLast = /\r\nconnection: close/i.test(text)
  }

  #readBody(body: Buffer): void {
    if (this.#bytesLeft >= 0) {
      this.#bytesLeft -= body.length
      if (this.#bytesLeft <= 0) this.#finish(this.#status === 200)
      return
    }
    this.#tail = Buffer.concat([this.#tail, body]).subarray(-LAST_CHUNK.length)
    if (this.#tail.equals(LAST_CHUNK)) this.#finish(this.#status === 200)
  }

  #finish(isGood: boolean): void {
    const done = this.#done
    if (done === null) return
    this.#done = null
    // The next request is sent on a new connection.
    if (this.#isLast) this.#socket.destroy()
    const now = process.hrtime.bigint()
    done({
      isGood,
      status: this.#status,
      firstByteUs: Number((this.#firstByteAt || now) - this.#startedAt) / 1000,
      totalUs: Number(now - this.#startedAt) / 1000,
      requestId: this.#requestId,
    })
  }
}
