import { useState } from 'react'

/**
 * Returns an object as it was first read after the dialog opened, or null until then. A form
 * compares its values with that version to find what its user has changed. With a later version,
 * another user's change would look like a change by this user.
 */
export function useFirstVersion<Data>(query: {
  readonly data: Data | undefined
  readonly isFetchedAfterMount: boolean
}): Data | null {
  const [first, setFirst] = useState<Data | null>(null)
  if (first === null && query.data !== undefined && query.isFetchedAfterMount) setFirst(query.data)
  return first
}
