import type { ReactElement } from 'react'
import type { Point } from '#console/api/channel-health/health-state.ts'

const STEP = 5
const BAR = 4
const HEIGHT = 20
/** What failed is shown from its first per cent on. */
const LEAST = 2

/**
 * The last hour: a bar for each stretch, its failed part on top in another colour and hatched
 * apart by a gap. A stretch without calls has a dot. An ornament: the figures beside it say it.
 */
export function SparkBars({ points }: { points: readonly Point[] }): ReactElement {
  const width = points.length * STEP - 1
  return (
    <svg className="tg-health-spark" viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
      {points.map(({ from, rate }, index) => {
        const x = index * STEP
        if (rate === null) {
          return (
            <rect key={from} className="tg-spark-gap" x={x} y={HEIGHT - 2} width={BAR} height={1} />
          )
        }
        const failed = rate === 1 ? 0 : Math.max(LEAST, Math.round((1 - rate) * HEIGHT))
        const good = HEIGHT - failed - (failed > 0 && failed < HEIGHT ? 1 : 0)
        return (
          <g key={from}>
            {failed > 0 && (
              <rect className="tg-spark-bad" x={x} y={0} width={BAR} height={failed} />
            )}
            {good > 0 && (
              <rect className="tg-spark-good" x={x} y={HEIGHT - good} width={BAR} height={good} />
            )}
          </g>
        )
      })}
    </svg>
  )
}
