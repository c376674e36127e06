import { useEffect, useState } from 'react'

export function useDebouncedValue<Value extends string | null>(
  value: Value,
  waitMs: number,
): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs)
    return () => clearTimeout(timer)
  }, [value, waitMs])
  return settled
}
