// Place of content that is loading, as high as a part of a page.

export const Loading = () => <div class="view-loading" aria-busy />
