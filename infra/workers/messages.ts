import type { FastifyInstance } from 'fastify'
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'
import type { HttpListener } from '../http-listener.ts'

/** A process's metrics as `registry.getMetricsAsJSON()` gives them. */
export type Metrics = readonly MetricObjectWithValues<MetricValue<string>>[]

/** What the primary says to a worker. */
export type ToWorker =
  /** Comes with its socket, unless that was closed on the way. Answered by `taken`. */
  | { readonly type: 'connection' }
  /** Streams finish within `graceMs`, new calls are refused, then it exits with 0. */
  | { readonly type: 'drain'; readonly graceMs: number }
  | { readonly type: 'metrics-wanted'; readonly question: number }
  | { readonly type: 'metrics-text'; readonly question: number; readonly text: string }

/** What a worker says to the primary. */
export type ToPrimary =
  /** It serves what it is handed. */
  | { readonly type: 'ready' }
  /** It has the connection, and reads from it once this is sent. */
  | { readonly type: 'taken' }
  /** It takes no more connections. */
  | { readonly type: 'closed' }
  /** It can't start; the words are for whoever starts the product. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'print-line'; readonly line: string }
  /** Everybody's metrics are asked for. */
  | { readonly type: 'metrics-asked'; readonly question: number }
  | { readonly type: 'metrics-own'; readonly question: number; readonly metrics: Metrics }

/** The other processes of one start of the product, for what they have in common. */
export type Siblings = {
  /** This process's metrics, for when another one is asked. */
  readonly join: (own: Registry) => void
  /** Everybody's, each sample labelled with its `process`, in Prometheus' text format. */
  readonly metrics: () => Promise<string>
  /** Serves the app on the port that all share. */
  readonly shareListener: (app: FastifyInstance) => Promise<HttpListener>
}
