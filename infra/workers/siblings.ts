import type { Registry } from 'prom-client'

/** The other processes of one start of the product, for what is asked of any of them. */
export type Siblings = {
  /** This process's metrics, for when another one is asked. */
  readonly join: (own: Registry) => void
  /** Everybody's, each sample labelled with its `process`, in Prometheus' text format. */
  readonly metrics: () => Promise<string>
}
