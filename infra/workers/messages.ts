import type { FastifyInstance } from 'fastify'
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'
import type { HttpListener } from '../http-listener.ts'

/** The metrics of a process as `registry.getMetricsAsJSON()` returns them. */
export type Metrics = readonly MetricObjectWithValues<MetricValue<string>>[]

/** A message from the primary to a worker. */
export type ToWorker =
  /** Carries the socket, unless that was closed in transfer. The worker replies with `accepted`. */
  | { readonly type: 'connection' }
  /** Streams finish within `graceMs`, new calls are rejected, then the worker exits with 0. */
  | { readonly type: 'drain'; readonly graceMs: number }
  | { readonly type: 'process-metrics-request'; readonly requestId: number }
  | { readonly type: 'all-metrics'; readonly requestId: number; readonly text: string }

/** A message from a worker to the primary. */
export type ToPrimary =
  /** The worker serves the connections that it is handed. */
  | { readonly type: 'ready' }
  /** The worker has the connection, and starts to read from it once this message is sent. */
  | { readonly type: 'accepted' }
  /** The worker accepts no more connections. */
  | { readonly type: 'closed' }
  /** The worker can't start; the message is addressed to the operator. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'print-line'; readonly line: string }
  /** Requests the merged metrics of all processes. */
  | { readonly type: 'all-metrics-request'; readonly requestId: number }
  | { readonly type: 'process-metrics'; readonly requestId: number; readonly metrics: Metrics }

/** The other processes of one start of the product, as seen by one worker. */
export type Siblings = {
  /** Registers this process's metrics for requests that another process answers. */
  readonly join: (own: Registry) => void
  /**
   * Returns the metrics of all processes in Prometheus' text format; each sample has the label
   * `process`.
   */
  readonly metrics: () => Promise<string>
  /** Serves the app on the shared port. */
  readonly shareListener: (app: FastifyInstance) => Promise<HttpListener>
}
