import type { ReactNode } from 'react'
import { ErrorState } from './error-state.tsx'
import { Skeleton } from './skeleton.tsx'

/**
 * Shows the data of a query. Shows a placeholder while the query is loading, and a button to retry
 * after a failure.
 */
export function QueryView<Data>(props: {
  query: { data: Data | undefined; error: Error | null; refetch: () => unknown }
  /** The height (px) of the placeholder. */
  height?: number
  waiting?: ReactNode
  children: (data: Data) => ReactNode
}) {
  const { data, error, refetch } = props.query
  if (data !== undefined) return <>{props.children(data)}</>
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return <>{props.waiting ?? <Skeleton height={props.height ?? 14} />}</>
}
