import type { ReactElement } from 'react'
import type { Point } from '#console/api/channel-health/health-state.ts'

const STEP = 5
const BAR = 4
const HEIGHT = 20
/** What failed is shown from its first per cent on. */
const LEAST = 2

/**
 * The last hour: a bar for each period, its failed part on top in another colour and hatched
 * apart by a gap. A period without calls has a dot. An ornament: the figures beside it say it.
 * All of a colour are one path: a board that scrolls draws hundreds of bars a frame.
 */
export function SparkBars({ points }: { points: readonly Point[] }): ReactElement {
  const paths = pathsOf(points)
  return (
    <svg
      className="tg-health-spark"
      viewBox={`0 0 ${points.length * STEP - 1} ${HEIGHT}`}
      aria-hidden="true"
    >
      {paths.gap !== '' && <path className="tg-spark-gap" d={paths.gap} />}
      {paths.bad !== '' && <path className="tg-spark-bad" d={paths.bad} />}
      {paths.good !== '' && <path className="tg-spark-good" d={paths.good} />}
    </svg>
  )
}

function pathsOf(points: readonly Point[]) {
  const paths = { gap: '', bad: '', good: '' }
  for (const [index, { rate }] of points.entries()) {
    const x = index * STEP
    if (rate === null) {
      paths.gap += barPath(x, HEIGHT - 2, 1)
      continue
    }
    const failed = rate === 1 ? 0 : Math.max(LEAST, Math.round((1 - rate) * HEIGHT))
    const good = HEIGHT - failed - (failed > 0 && failed < HEIGHT ? 1 : 0)
    if (failed > 0) paths.bad += barPath(x, 0, failed)
    if (good > 0) paths.good += barPath(x, HEIGHT - good, good)
  }
  return paths
}

const barPath = (x: number, y: number, height: number): string =>
  `M${x} ${y}h${BAR}v${height}h-${BAR}z`
