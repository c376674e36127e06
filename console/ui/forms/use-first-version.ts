import { useState } from 'react'

/**
 * Returns the object that the first successful read after the form opened has returned, or null
 * until then. A form compares its values with this object to find what its user has changed. If it
 * compared them with a later version of the object, another user's change would look like a change
 * by this user.
 */
export function useFirstVersion<Data>(query: {
  readonly data: Data | undefined
  readonly isFetchedAfterMount: boolean
}): Data | null {
  const [first, setFirst] = useState<Data | null>(null)
  if (first === null && query.data !== undefined && query.isFetchedAfterMount) setFirst(query.data)
  return first
}
