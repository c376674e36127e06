const KEY = 'awaited-top-up'

/** Returns the order that this tab is paying; it is stored while the tab is at the provider. */
export function awaitedOrder(): number | null {
  const id = Number(sessionStorage.getItem(KEY) ?? 0)
  return Number.isSafeInteger(id) && id > 0 ? id : null
}

export const awaitOrder = (id: number): void => sessionStorage.setItem(KEY, String(id))

/** Returns true on the first call for an order. */
export function forgetOrder(id: number): boolean {
  if (awaitedOrder() !== id) return false
  sessionStorage.removeItem(KEY)
  return true
}
