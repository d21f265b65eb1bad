# %% [markdown]
# # 8 A vision Transformer
#
# This tutorial covers section 11.8 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/vision-transformer.html).
#
# - **You learn** to cut an image into patches, to make tokens of them, to classify images with the encoder of tutorial 5, and to see where
#   it attends.
# - **Time:** 25 minutes; the cells run for about a minute.
# - **Before this:** [5 A Transformer from its parts](5_transformer.ipynb). You should know what a convolution of an image is.

# %% [markdown] lang="ja"
# # 8 Vision Transformer
#
# このチュートリアルは [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/vision-transformer.html) の 11.8 節に対応します。
#
# - **学ぶこと:** 画像をパッチに切ってトークンにし、チュートリアル 5 のエンコーダーで画像を分類し、どこに注目するかを見ます。
# - **所要時間:** 25 分。セルの実行は 1 分ほどです。
# - **前提:** [5 部品から組み立てる Transformer](5_transformer.ipynb)。画像の畳み込みとは何か。

# %% [markdown] lang="ko"
# # 8 비전 트랜스포머
#
# 이 튜토리얼은 [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/vision-transformer.html)의 11.8절에 해당합니다.
#
# - **배우는 것:** 이미지를 패치로 잘라 토큰으로 만들고, 튜토리얼 5의 인코더로 이미지를 분류하고, 어디를 참조하는지 봅니다.
# - **시간:** 25분. 셀 실행에는 1분쯤 걸립니다.
# - **미리 알아 둘 것:** [5 부품으로 만드는 트랜스포머](5_transformer.ipynb). 이미지의 합성곱이 무엇인지.

# %%
import keras
import numpy as np
from keras import ops
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)
SIZE, PATCH, WIDTH = 24, 4, 48

# %% [markdown]
# ## Images to classify
#
# No data set is needed: we draw six shapes at random places, in random sizes, with noise.

# %% [markdown] lang="ja"
# ## 分類する画像
#
# データセットは要りません。六つの図形を、ランダムな場所に、ランダムな大きさで、ノイズを加えて描きます。

# %% [markdown] lang="ko"
# ## 분류할 이미지
#
# 데이터 세트는 필요 없습니다. 여섯 가지 도형을 무작위 위치에, 무작위 크기로, 잡음을 더해 그립니다.

# %%
SHAPES = ("disc", "ring", "square", "frame", "plus", "cross")


def draw(shape):
    radius = random.integers(4, 7)
    row, column = random.integers(radius, SIZE - radius, 2)
    y, x = np.mgrid[:SIZE, :SIZE]
    x, y = x - column, y - row
    circle, square = np.hypot(x, y), np.maximum(abs(x), abs(y))
    axis, diagonal = np.minimum(abs(x), abs(y)), abs(abs(x) - abs(y))
    inside = {
        "disc": circle <= radius,
        "ring": abs(circle - radius + 1) < 1.2,
        "square": square < radius,
        "frame": abs(square - radius + 1) < 1,
        "plus": (axis < 1) & (square < radius),
        "cross": (diagonal < 1) & (square < radius),
    }[shape]
    noise = random.normal(0, 0.1, (SIZE, SIZE))
    return inside * random.uniform(0.6, 1) + noise


def examples(number):
    labels = random.integers(len(SHAPES), size=number)
    images = [draw(SHAPES[label]) for label in labels]
    return np.array(images, "float32")[..., None], labels


images, labels = examples(3000)
test_images, test_labels = examples(500)

# %% tags=["plot"]
figure = Figure((9, 1.8), layout="constrained")
for i, axes in enumerate(figure.subplots(1, len(SHAPES))):
    axes.imshow(images[labels == i][0, :, :, 0], "gray")
    axes.set_title(SHAPES[i], fontsize=10)
    axes.set_axis_off()
figure

# %% [markdown]
# ## Patches are tokens
#
# Attention over single pixels is too expensive: the scores grow with the square of the number of tokens. So the image is cut into square patches,
# and each patch is a token: its pixels in a row, projected to the width of the model.
#
# **Predict:** how many tokens is an image of 24 × 24 pixels with patches of 4 × 4? And an image of 224 × 224 with patches of 16 × 16?

# %% [markdown] lang="ja"
# ## パッチがトークンになる
#
# 一つ一つの画素にアテンションを使うのは高価です。スコアの数は、トークンの数の 2 乗で増えるからです。そこで画像を正方形のパッチに切り、各パッチをトークンにします。パッチの画素を一列に並べ、モデルの次元に射影します。
#
# **予想してください:** 24 × 24 画素の画像を 4 × 4 のパッチに切ると、トークンはいくつですか。224 × 224 の画像を 16 × 16 のパッチに切るとどうですか。

# %% [markdown] lang="ko"
# ## 패치가 토큰이 된다
#
# 화소 하나하나에 어텐션을 쓰면 너무 비쌉니다. 스코어의 수가 토큰 수의 제곱으로 늘기 때문입니다. 그래서 이미지를 정사각형 패치로 자르고, 패치마다 토큰으로 만듭니다. 패치의 화소를 한 줄로 놓고 모델의 차원으로 투영합니다.
#
# **예상해 보세요:** 24 × 24 화소 이미지를 4 × 4 패치로 자르면 토큰은 몇 개일까요? 224 × 224 이미지를 16 × 16 패치로 자르면 어떨까요?


# %%
def to_patches(images, size=PATCH):
    """(B, height, width, 1) to (B, patches, size * size)."""
    _, height, width, _ = images.shape
    rows, columns = height // size, width // size
    x = ops.reshape(images, (-1, rows, size, columns, size))
    x = ops.swapaxes(x, 2, 3)  # (B, rows, columns, size, size)
    return ops.reshape(x, (-1, rows * columns, size * size))


patches = to_patches(images[:1])
print("patches", tuple(patches.shape))

# %% tags=["plot"]
figure = Figure((6, 3), layout="constrained")
left, right = figure.subfigures(1, 2)
axes = left.subplots()
axes.imshow(images[0, :, :, 0], "gray")
axes.set_axis_off()
grid = right.subplots(SIZE // PATCH, SIZE // PATCH)
for axes, patch in zip(grid.flat, patches[0], strict=True):
    pixels = convert_to_numpy(patch).reshape(PATCH, PATCH)
    axes.imshow(pixels, "gray", vmin=0, vmax=1)
    axes.set_axis_off()
figure

# %% [markdown]
# <details><summary>Answer</summary>
#
# 6 × 6 = 36 patches, and 14 × 14 = 196. With the class token, which follows below, it is one more.
#
# </details>
#
# To cut into patches and to project them is one operation: a convolution whose stride is the size of its kernel. Most programs write it that way.

# %% [markdown] lang="ja"
# <details><summary>答え</summary>
#
# 6 × 6 = 36 個と、14 × 14 = 196 個です。後で出てくるクラストークンを加えると、もう一つ増えます。
#
# </details>
#
# パッチに切って射影することは、一つの演算で書けます。ストライドがカーネルのサイズと等しい畳み込みです。ほとんどのプログラムはそう書いています。

# %% [markdown] lang="ko"
# <details><summary>답</summary>
#
# 6 × 6 = 36개와 14 × 14 = 196개입니다. 아래에 나오는 클래스 토큰을 더하면 하나씩 늘어납니다.
#
# </details>
#
# 패치로 자르고 투영하는 것은 한 연산입니다. 보폭(stride)이 커널 크기와 같은 합성곱입니다. 프로그램은 대부분 그렇게 씁니다.

# %%
kernel = random.normal(size=(PATCH * PATCH, WIDTH)).astype("float32")
projected = patches @ ops.convert_to_tensor(kernel)
as_filters = ops.reshape(kernel, (PATCH, PATCH, 1, WIDTH))
convolved = ops.conv(images[:1], as_filters, strides=PATCH)
assert np.allclose(
    ops.reshape(convolved, projected.shape), projected, atol=1e-4
)
print("patches and projection equal a convolution")

# %% [markdown]
# ## The model
#
# Two things are added to the tokens:
#
# - A *class token*: a learned vector before the patches. It belongs to no place. Through attention it gathers what the classifier needs, and its
#   last state is projected to the classes.
# - *Positions*: without them, an image and the same patches in another order would be the same. Each place has a learned vector.
#
# The rest is an encoder of tutorial 5 in pre-norm, with the activation GELU. No mask is needed: all patches are known, and none is padding.

# %% [markdown] lang="ja"
# ## モデル
#
# トークンに二つのものを加えます。
#
# - *クラストークン*: パッチの前に置く、学習されるベクトル。どの場所にも属しません。アテンションによって分類に必要なものを集め、最後の状態がクラスに射影されます。
# - *位置*: 位置がなければ、画像と、パッチを並べ替えた画像は同じになります。場所ごとに一つのベクトルを学習します。
#
# 残りは、チュートリアル 5 の pre-norm のエンコーダーで、活性化関数は GELU です。マスクは不要です。すべてのパッチが分かっていて、パディングもないからです。

# %% [markdown] lang="ko"
# ## 모델
#
# 토큰에 두 가지를 더합니다.
#
# - *클래스 토큰*: 패치 앞에 놓는, 학습되는 벡터입니다. 어느 자리에도 속하지 않습니다. 어텐션으로 분류에 필요한 것을 모으고, 마지막 상태가 클래스로 투영됩니다.
# - *위치*: 위치가 없으면 이미지와, 패치의 순서를 바꾼 이미지가 같아집니다. 자리마다 벡터 하나를 학습합니다.
#
# 나머지는 튜토리얼 5의 pre-norm 인코더이고, 활성화 함수는 GELU입니다. 마스크는 필요 없습니다. 모든 패치를 알고 있고 패딩도 없기 때문입니다.


# %%
class Tokens(keras.layers.Layer):
    """Class token and projected patches: images to (B, 1 + N, D)."""

    def __init__(self, patch=PATCH):
        super().__init__()
        self.patch = patch
        self.project = keras.layers.Dense(WIDTH)
        self.class_token = self.add_weight(
            shape=(1, 1, WIDTH), name="class_token"
        )

    def call(self, images):
        x = self.project(to_patches(images, self.patch))
        first = ops.repeat(self.class_token, ops.shape(x)[0], axis=0)
        return ops.concatenate([first, x], axis=1)


def make_model(pool="class", num_layers=2, patch=PATCH):
    """Classifier, and a model of the weights of its last layer."""
    images = keras.Input((SIZE, SIZE, 1))
    x = Tokens(patch)(images)
    places = (SIZE // patch) ** 2 + 1
    x = keras_attn.LearnedPositionalEncoding(places)(x)
    for _ in range(num_layers):
        block = keras_attn.EncoderBlock(
            WIDTH, 2 * WIDTH, num_heads=4, activation="gelu"
        )
        x, weights = block(x, return_attention_scores=True)
    x = keras.layers.LayerNormalization()(x)
    x = x[:, 0] if pool == "class" else ops.mean(x[:, 1:], axis=1)
    logits = keras.layers.Dense(len(SHAPES))(x)
    weights_of = keras.Model(images, weights["self_attention"])
    return keras.Model(images, logits), weights_of


def train(epochs=8, **options):
    keras.utils.set_random_seed(0)
    model, weights_of = make_model(**options)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(
        keras.optimizers.Adam(2e-3),
        loss,
        metrics=["accuracy"],
        jit_compile=False,
    )
    model.fit(images, labels, batch_size=64, epochs=epochs, verbose=0)
    _, accuracy = model.evaluate(test_images, test_labels, verbose=0)
    print(f"images that are right: {accuracy:.0%}")
    return model, weights_of


model, weights_of = train()

# %% [markdown]
# ## Where the class token attends
#
# The attention weights of the class token over the patches, in the last layer: the mean of the heads, drawn over the image.
#
# **Predict:** does the class token attend to the shape or to the empty background?

# %% [markdown] lang="ja"
# ## クラストークンはどこに注目するか
#
# 最後の層での、パッチに対するクラストークンのアテンションの重みです。ヘッドの平均を画像に重ねます。
#
# **予想してください:** クラストークンは、図形と何もない背景のどちらに注目しますか。

# %% [markdown] lang="ko"
# ## 클래스 토큰이 참조하는 곳
#
# 마지막 층에서 패치에 대한 클래스 토큰의 어텐션 가중치입니다. 헤드의 평균을 이미지 위에 그립니다.
#
# **예상해 보세요:** 클래스 토큰은 도형과 빈 배경 가운데 어느 쪽을 참조할까요?

# %%
shown = test_images[:6]
last = convert_to_numpy(weights_of(shown)).mean(axis=1)  # of the heads
side = SIZE // PATCH
maps = last[:, 0, 1:].reshape(-1, side, side)  # row of the class token
of_shape = to_patches(shown > 0.4)
is_shape = convert_to_numpy(ops.any(of_shape, axis=-1)).reshape(maps.shape)
share = (maps * is_shape).sum() / maps.sum()
print(f"patches with a part of the shape: {is_shape.mean():.0%}")
print(f"attention on these patches:       {share:.0%}")

# %% tags=["plot"]
figure = Figure((9, 3.2), layout="constrained")
grid = figure.subplots(2, len(shown))
for i, (image, weights) in enumerate(zip(shown, maps, strict=True)):
    extent = (0, SIZE, SIZE, 0)
    grid[0, i].imshow(image[:, :, 0], "gray", extent=extent)
    grid[1, i].imshow(image[:, :, 0], "gray", extent=extent)
    grid[1, i].imshow(weights, "Reds", alpha=0.6, extent=extent)
    grid[0, i].set_title(SHAPES[test_labels[i]], fontsize=10)
for axes in grid.flat:
    axes.set_axis_off()
figure

# %% [markdown]
# <details><summary>Answer</summary>
#
# To the shape more than by chance: a fifth of the patches gets over a third of the attention. But the rest is on the background: the first layer
# has already moved information between patches, so a patch of background can hold news of the shape. Attention of a deep layer is not
# a map of where the evidence stands.
#
# </details>
#
# ## Convolution or patches?
#
# A convolutional network knows two things about images before it sees one: neighbours belong together, and a shape is the same at each
# place. A vision Transformer must learn both from data. So it needs more images, or pretraining, and it is not better on small sets. On hundreds of
# millions of images, it overtakes convolutional networks (Dosovitskiy et al. 2021). Its cost grows with the square of the number of patches;
# Swin Transformers attend within windows and merge patches from layer to layer, for large images.
#
# ## Exercises
#
# ### Exercise: larger images
#
# Section 11.8, no. 1. How does the size of an image affect the time of training?
#
# <details><summary>Answer</summary>
#
# Twice the side is four times the patches. Projections and feed-forward networks then cost four times as much, the scores sixteen times. Smaller
# patches have the same effect: `train(patch=3)` has 64 patches in place of 36.
#
# </details>
#
# ### Exercise: no class token
#
# Section 11.8, no. 2. Project the mean of the patches instead. What does it do to the accuracy?
#
# <details><summary>Answer</summary>
#
# ```python
# train(pool="mean")
# ```
#
# Both work: 97% of the test images are right with the mean, 95% with the class token. The mean sees every patch in equal parts, and the patches gather nothing for one place; the attention of the layers before can still decide what a patch holds.
#
# </details>
#
# ### Exercise: better numbers
#
# Section 11.8, no. 3. Change the hyperparameters. What helps?
#
# <details><summary>Answer</summary>
#
# ```python
# train(epochs=16)
# ```
#
# More images help most, here at no cost: draw new ones for each epoch. Dropout, a learning rate that decays,
# and a warm-up help larger models.
#
# </details>

# %% [markdown] lang="ja"
# <details><summary>答え</summary>
#
# 偶然より多く図形に注目します。パッチの 5 分の 1 が、アテンションの 3 分の 1 以上を得ます。残りは背景です。最初の層がすでにパッチの間で情報を移しているので、背景のパッチも図形の情報を持てます。深い層のアテンションは、根拠がどこにあるかの地図とは限りません。
#
# </details>
#
# ## 畳み込みか、パッチか
#
# 畳み込みネットワークは、画像を見る前から二つのことを知っています。隣り合うものは関係があること、図形はどこにあっても同じであることです。Vision Transformer は、どちらもデータから学ばなければなりません。そのため、より多くの画像か事前学習が必要で、小さなデータセットでは優れていません。数億枚の画像では、畳み込みネットワークを追い越します（Dosovitskiy ほか 2021）。コストはパッチの数の 2 乗で増えます。大きな画像のために、Swin Transformer は窓の中だけを参照し、層ごとにパッチを統合します。
#
# ## 演習
#
# ### 演習: 大きな画像
#
# （11.8 節の 1）画像の大きさは学習の時間にどう影響しますか。
#
# <details><summary>答え</summary>
#
# 一辺が 2 倍なら、パッチは 4 倍です。射影とフィードフォワードネットワークのコストは 4 倍、スコアは 16 倍になります。パッチを小さくしても同じです。`train(patch=3)` のパッチは 36 個ではなく 64 個です。
#
# </details>
#
# ### 演習: クラストークンなし
#
# （11.8 節の 2）代わりにパッチの平均を射影してください。正解率はどうなりますか。
#
# <details><summary>答え</summary>
#
# ```python
# train(pool="mean")
# ```
#
# どちらも使えます。正しいテスト画像は、平均で 97%、クラストークンで 95% です。平均はすべてのパッチを等しく見ます。各パッチに何を残すかは、その前の層のアテンションが決められます。
#
# </details>
#
# ### 演習: より良い正解率
#
# （11.8 節の 3）ハイパーパラメーターを変えてください。何が役に立ちますか。
#
# <details><summary>答え</summary>
#
# ```python
# train(epochs=16)
# ```
#
# 最も役に立つのは画像を増やすことで、ここでは費用がかかりません。エポックごとに新しい画像を描けます。大きなモデルでは、ドロップアウト、減衰する学習率、ウォームアップも役に立ちます。
#
# </details>

# %% [markdown] lang="ko"
# <details><summary>답</summary>
#
# 우연보다 도형을 더 많이 참조합니다. 패치의 5분의 1이 어텐션의 3분의 1 이상을 받습니다. 나머지는 배경입니다. 첫 층이 이미 패치 사이에서 정보를 옮겼으므로, 배경 패치도 도형의 정보를 가질 수 있습니다. 깊은 층의 어텐션이 언제나 근거가 있는 곳의 지도는 아닙니다.
#
# </details>
#
# ## 합성곱인가 패치인가
#
# 합성곱 신경망은 이미지를 보기 전에 두 가지를 압니다. 이웃한 것은 서로 관계가 있고, 도형은 어디에 있어도 같다는 것입니다. 비전 트랜스포머는 둘 다 데이터에서 배워야 합니다. 그래서 더 많은 이미지나 사전 학습이 필요하고, 작은 데이터 세트에서는 더 낫지 않습니다. 수억 장의 이미지에서는 합성곱 신경망을 앞지릅니다(Dosovitskiy 등 2021). 비용은 패치 수의 제곱으로 늘어납니다. 큰 이미지를 위해 Swin 트랜스포머는 창 안만 참조하고 층마다 패치를 합칩니다.
#
# ## 연습문제
#
# ### 연습: 더 큰 이미지
#
# (11.8절 1번) 이미지의 크기는 학습 시간에 어떤 영향을 줄까요?
#
# <details><summary>답</summary>
#
# 한 변이 두 배면 패치는 네 배입니다. 투영과 피드포워드 네트워크의 비용은 네 배, 스코어는 열여섯 배가 됩니다. 패치를 작게 해도 같습니다. `train(patch=3)`의 패치는 36개가 아니라 64개입니다.
#
# </details>
#
# ### 연습: 클래스 토큰 없이
#
# (11.8절 2번) 그 대신 패치의 평균을 투영하세요. 정확도는 어떻게 될까요?
#
# <details><summary>답</summary>
#
# ```python
# train(pool="mean")
# ```
#
# 둘 다 됩니다. 맞은 테스트 이미지는 평균으로 97%, 클래스 토큰으로 95%입니다. 평균은 모든 패치를 똑같이 봅니다. 각 패치에 무엇을 남길지는 그 앞 층의 어텐션이 정할 수 있습니다.
#
# </details>
#
# ### 연습: 더 나은 수치
#
# (11.8절 3번) 하이퍼파라미터를 바꾸세요. 무엇이 도움이 될까요?
#
# <details><summary>답</summary>
#
# ```python
# train(epochs=16)
# ```
#
# 가장 도움이 되는 것은 이미지를 늘리는 것이고, 여기서는 비용이 들지 않습니다. 에포크마다 새 이미지를 그리면 됩니다. 큰 모델에서는 드롭아웃, 줄어드는 학습률, 워밍업도 도움이 됩니다.
#
# </details>
