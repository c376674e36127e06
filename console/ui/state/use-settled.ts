import { useEffect, useState } from 'react'

/** The value once it has stayed the same for `waitMs`, to avoid a request per typed character. */
export function useSettled<Value extends string | null>(value: Value, waitMs: number): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs)
    return () => clearTimeout(timer)
  }, [value, waitMs])
  return settled
}
