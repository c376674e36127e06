const KEY = 'awaited-top-up'

/** Which order this tab has left to pay for: known over the way to the provider and back. */
export function awaitedOrder(): number | null {
  const id = Number(sessionStorage.getItem(KEY) ?? 0)
  return Number.isSafeInteger(id) && id > 0 ? id : null
}

export const awaitOrder = (id: number): void => sessionStorage.setItem(KEY, String(id))

/** True the first time that it is told so. */
export function forgetOrder(id: number): boolean {
  if (awaitedOrder() !== id) return false
  sessionStorage.removeItem(KEY)
  return true
}
