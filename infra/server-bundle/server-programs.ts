import type { runProduct } from '../run-product.ts'
import type { runWorker } from '../workers/run-worker.ts'

/** The programs of the servers. Each program loads its modules only when the program is called. */
export const programs = {
  runProduct: async (...given: Parameters<typeof runProduct>) =>
    (await import('../run-product.ts')).runProduct(...given),
  runWorker: async (...given: Parameters<typeof runWorker>) =>
    (await import('../workers/run-worker.ts')).runWorker(...given),
}
