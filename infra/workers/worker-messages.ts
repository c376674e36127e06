import type { FastifyInstance } from 'fastify'
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'
import type { HttpListener } from '../http-listener.ts'

/** The metrics of a process, in the form that `registry.getMetricsAsJSON()` returns. */
export type Metrics = readonly MetricObjectWithValues<MetricValue<string>>[]

export type ToWorker =
  /**
   * Passes the socket that is sent with this message. The message has no socket if the socket was
   * closed in transfer. The worker replies with `accepted`.
   */
  | { readonly type: 'connection' }
  /**
   * Tells the worker to stop. Streams may finish within `graceMs` milliseconds, new calls are
   * rejected, and the worker exits with 0.
   */
  | { readonly type: 'drain'; readonly graceMs: number }
  | { readonly type: 'process-metrics-request'; readonly requestId: number }
  | { readonly type: 'all-metrics'; readonly requestId: number; readonly text: string }

export type ToPrimary =
  | { readonly type: 'ready' }
  /**
   * Confirms that the worker has received the connection. The worker reads from the connection only
   * after this message.
   */
  | { readonly type: 'accepted' }
  | { readonly type: 'closed' }
  /** Reports that the worker can't start. `message` is for the operator. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'print-line'; readonly line: string }
  /** Requests the merged metrics of all processes. */
  | { readonly type: 'all-metrics-request'; readonly requestId: number }
  | { readonly type: 'process-metrics'; readonly requestId: number; readonly metrics: Metrics }

/** The functions with which a process uses the other processes on the same port. */
export type Siblings = {
  /** Registers the metrics of this process, which the primary process requests at every scrape. */
  readonly join: (own: Registry) => void
  /**
   * Returns the metrics of all processes in Prometheus's text format. Each sample has the label
   * `process`.
   */
  readonly metrics: () => Promise<string>
  readonly shareListener: (app: FastifyInstance) => Promise<HttpListener>
}
