import type { Server } from 'node:http'

/** Where a process's requests come in. */
export type HttpListener = {
  /** As a browser can open it; empty where another process has the port. */
  readonly url: string
  readonly server: Server
  /** Lets nobody in any more, and resolves once nobody is left. */
  readonly close: () => Promise<void>
}
