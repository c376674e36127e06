import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killTree } from './process-tree.ts'

type Environment = Readonly<Record<string, string>>

/** Preloaded, because tests create and log in more users at once than a site does. */
const CHEAP_HASHES = `--import="${join(import.meta.dirname, 'cheap-password-hashes.ts')}"`

/** The product as `npm start` runs it, with a separate data folder and port. */
export class ProductProcess {
  readonly url: string
  readonly #port: number
  readonly #environment: Environment
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'tallygate-e2e-'))
  #child: ChildProcess | null = null
  #output = ''

  private constructor(port: number, environment: Environment) {
    this.#port = port
    this.#environment = environment
    this.url = `http://127.0.0.1:${port}`
  }

  /**
   * Creates a product that is not started. `environment` overrides the default variables, such as
   * `ROLES`.
   */
  static async create(environment: Environment = {}): Promise<ProductProcess> {
    return new ProductProcess(await freePort(), environment)
  }

  /** Resolves when the product is ready. Throws the output if the product ends. */
  async start(): Promise<void> {
    const { DATABASE_URL: _database, SECRET_KEY: _key, ...environment } = process.env
    const options = [CHEAP_HASHES, process.env.NODE_OPTIONS, this.#environment.NODE_OPTIONS]
    const child = spawn(process.execPath, ['infra/main.ts'], {
      env: {
        ...environment,
        PORT: String(this.#port),
        DATA_DIR: this.#dataDir,
        LOG_LEVEL: 'warn',
        ...this.#environment,
        NODE_OPTIONS: options.filter((option) => option !== undefined).join(' '),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    await new Promise<void>((ready, failed) => {
      const listen = (bytes: Buffer): void => {
        this.#output += bytes
        if (String(bytes).includes('is ready')) ready()
      }
      child.stdout.on('data', listen)
      child.stderr.on('data', listen)
      child.on('exit', (code) => failed(new Error(`ended with ${code}: ${this.#output}`)))
    })
  }

  get pid(): number {
    return this.#running().pid ?? 0
  }

  /** Resolves with the exit code, which is null after a kill. */
  async ended(): Promise<number | null> {
    const child = this.#running()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    return child.exitCode
  }

  /** The output since the first start, across restarts. */
  get output(): string {
    return this.#output
  }

  /** Kills the product and all its child processes, including Postgres. Returns their number. */
  async kill(): Promise<number> {
    const child = this.#running()
    const ended = once(child, 'exit')
    const count = killTree(child.pid ?? 0)
    await ended
    return count
  }

  async stop(): Promise<number | null> {
    const child = this.#running()
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const [code] = (await ended) as [number | null]
    return code
  }

  /** Kills a running product and deletes its data. */
  async close(): Promise<void> {
    const child = this.#child
    if (child !== null && child.exitCode === null && child.signalCode === null) await this.kill()
    rmSync(this.#dataDir, { recursive: true, force: true })
  }

  #running(): ChildProcess {
    if (this.#child === null) throw new Error('the product was not started')
    return this.#child
  }
}

export async function startProductProcess(environment: Environment = {}): Promise<ProductProcess> {
  const product = await ProductProcess.create(environment)
  await product.start()
  return product
}

/**
 * Returns a free port that a restarted product can use again. The port is below the range that the
 * system assigns, so that no other connection takes it.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((known) => {
      server.once('error', () => known(false))
      server.listen(port, '127.0.0.1', () => known(true))
    })
    if (!isFree) continue
    await new Promise((closed) => server.close(closed))
    return port
  }
}
