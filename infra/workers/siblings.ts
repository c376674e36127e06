import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import type { HttpListener } from '../http-listener.ts'

/** The other processes of one start of the product, for what they have in common. */
export type Siblings = {
  /** This process's metrics, for when another one is asked. */
  readonly join: (own: Registry) => void
  /** Everybody's, each sample labelled with its `process`, in Prometheus' text format. */
  readonly metrics: () => Promise<string>
  /** Serves the app on the port that all share. */
  readonly shareListener: (app: FastifyInstance) => Promise<HttpListener>
}
