// Placeholder of loading content.

export const Loading = () => <div class="view-loading" aria-busy />
