export const RICH_KEY = `${'rich'.repeat(11)}RICH`
export const UNPAID_KEY = `${'poor'.repeat(11)}POOR`
