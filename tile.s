	.file	"<string>"
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0
.LCPI0_0:
	.quad	0xc2f8000000000000
.LCPI0_1:
	.quad	0x3f55d897e525c216
.LCPI0_2:
	.quad	0x3f2430a1d08ec681
.LCPI0_3:
	.quad	0x3f83b2ab6fb41213
.LCPI0_4:
	.quad	0x3fac6b08d6f2a289
.LCPI0_5:
	.quad	0x3fcebfbdff82c590
.LCPI0_6:
	.quad	0x3fe62e42fefa39f3
.LCPI0_7:
	.quad	0x3ff0000000000000
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_8:
	.quad	0x3ff6a09e667f3bcd
	.quad	0x3ff7a11473eb0187
	.quad	0x3ff8ace5422aa0db
	.quad	0x3ff9c49182a3f090
	.quad	0x3ffae89f995ad3ad
	.quad	0x3ffc199bdd85529c
	.quad	0x3ffd5818dcfba487
	.quad	0x3ffea4afa2a490da
.LCPI0_9:
	.quad	0x3ff0000000000000
	.quad	0x3ff0b5586cf9890f
	.quad	0x3ff172b83c7d517b
	.quad	0x3ff2387a6e756238
	.quad	0x3ff306fe0a31b715
	.quad	0x3ff3dea64c123422
	.quad	0x3ff4bfdad5362a27
	.quad	0x3ff5ab07dd485429
	.section	.ltext,"axl",@progbits
	.globl	_ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE
	.p2align	4
	.type	_ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE,@function
_ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$1752, %rsp
	movq	%rdi, -112(%rsp)
	movq	1992(%rsp), %rdi
	movq	1968(%rsp), %rcx
	movq	2000(%rsp), %rax
	subq	%rdi, %rax
	leaq	3(%rax), %rdx
	shrq	$2, %rdx
	testq	%rax, %rax
	setle	%al
	testq	%rdx, %rdx
	sete	%sil
	orb	%al, %sil
	vxorpd	%xmm0, %xmm0, %xmm0
	vmovupd	%zmm0, 16(%rsp)
	vmovupd	%zmm0, -48(%rsp)
	vmovupd	%zmm0, 80(%rsp)
	je	.LBB0_1
.LBB0_14:
	cmpq	$1, %rcx
	jne	.LBB0_16
	movq	2104(%rsp), %rax
	vmovupd	80(%rsp), %zmm0
	vaddpd	(%rax), %zmm0, %zmm0
	vmovupd	-48(%rsp), %zmm1
	vaddpd	64(%rax), %zmm1, %zmm1
	vmovupd	16(%rsp), %zmm2
	vaddpd	128(%rax), %zmm2, %zmm2
	vmovupd	%zmm0, (%rax)
	vmovupd	%zmm1, 64(%rax)
	vmovupd	%zmm2, 128(%rax)
.LBB0_16:
	movq	-112(%rsp), %rax
	movq	$0, (%rax)
	xorl	%eax, %eax
	addq	$1752, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.LBB0_1:
	movq	1896(%rsp), %r10
	movq	1880(%rsp), %rbx
	movq	1808(%rsp), %r12
	leaq	-1(%r10), %rax
	xorl	%r11d, %r11d
	cmpq	$2, %r10
	cmovgeq	%rax, %r11
	movq	%rax, -72(%rsp)
	shlq	$6, %rax
	leaq	(%rax,%rax,2), %rax
	movq	%rax, -80(%rsp)
	leaq	24(,%rdi,8), %r14
	movq	%r10, %r15
	imulq	%r14, %r15
	addq	%rbx, %r15
	movq	%r10, %rax
	shlq	$5, %rax
	movq	%rax, -56(%rsp)
	leaq	2(%rdi), %rsi
	movq	%r10, %rax
	imulq	%rsi, %rax
	leaq	(%rbx,%rax,8), %r13
	leaq	1(%rdi), %r8
	movq	%r10, %rax
	imulq	%r8, %rax
	leaq	(%rbx,%rax,8), %rbp
	movq	%rdi, %rax
	imulq	%r10, %rax
	leaq	(%rbx,%rax,8), %rax
	movabsq	$.LCPI0_0, %r9
	vbroadcastsd	(%r9), %zmm0
	vmovups	%zmm0, 528(%rsp)
	movabsq	$.LCPI0_1, %r9
	vbroadcastsd	(%r9), %zmm0
	vmovups	%zmm0, 720(%rsp)
	movabsq	$.LCPI0_2, %r9
	vbroadcastsd	(%r9), %zmm0
	vmovups	%zmm0, 656(%rsp)
	movabsq	$.LCPI0_3, %r9
	vbroadcastsd	(%r9), %zmm0
	vmovups	%zmm0, 592(%rsp)
	movabsq	$.LCPI0_4, %r9
	vbroadcastsd	(%r9), %zmm0
	vmovups	%zmm0, 464(%rsp)
	movabsq	$.LCPI0_5, %r9
	vbroadcastsd	(%r9), %zmm0
	vmovups	%zmm0, 400(%rsp)
	movabsq	$.LCPI0_6, %r9
	vbroadcastsd	(%r9), %zmm0
	vmovups	%zmm0, 336(%rsp)
	movabsq	$.LCPI0_7, %r9
	vbroadcastsd	(%r9), %zmm0
	vmovups	%zmm0, 272(%rsp)
	movabsq	$.LCPI0_8, %r9
	vmovaps	(%r9), %zmm0
	vmovups	%zmm0, 208(%rsp)
	movabsq	$.LCPI0_9, %r9
	vmovapd	(%r9), %zmm0
	vmovupd	%zmm0, 144(%rsp)
	leaq	(%r10,%r10,2), %r9
	shlq	$6, %r9
	leaq	128(%r12,%r9), %r9
	movq	%r9, -104(%rsp)
	imulq	%rcx, %r14
	movq	1952(%rsp), %r12
	addq	%r12, %r14
	movq	%rcx, %r9
	shlq	$5, %r9
	movq	%r9, -64(%rsp)
	imulq	%rcx, %rsi
	leaq	(%r12,%rsi,8), %r9
	imulq	%rcx, %r8
	leaq	(%r12,%r8,8), %r8
	movq	%rdi, %rsi
	imulq	%rcx, %rsi
	leaq	(%r12,%rsi,8), %rsi
	vxorpd	%xmm0, %xmm0, %xmm0
	vmovupd	%zmm0, 80(%rsp)
	vmovupd	%zmm0, -48(%rsp)
	vmovupd	%zmm0, 16(%rsp)
	leaq	(%rbx,%r10,8), %r10
	movq	%r10, -88(%rsp)
	movq	1808(%rsp), %r10
	addq	$128, %r10
	movq	%r10, -128(%rsp)
	movq	2104(%rsp), %rbx
	leaq	128(%rbx), %r10
	movq	%r10, -96(%rsp)
	vmovupd	720(%rsp), %zmm30
	vmovupd	592(%rsp), %zmm29
	jmp	.LBB0_2
	.p2align	4
.LBB0_12:
	movq	1952(%rsp), %r10
	vbroadcastsd	(%r10,%r12,8), %zmm12
	vfmadd213pd	80(%rsp), %zmm12, %zmm1
	vfmadd213pd	-48(%rsp), %zmm12, %zmm10
	vfmadd213pd	16(%rsp), %zmm12, %zmm11
	vbroadcastsd	-24(%r10,%rdi,8), %zmm12
	vfmadd213pd	%zmm1, %zmm12, %zmm3
	vfmadd213pd	%zmm10, %zmm12, %zmm4
	vfmadd213pd	%zmm11, %zmm12, %zmm5
	vbroadcastsd	-16(%r10,%rdi,8), %zmm1
	vfmadd213pd	%zmm3, %zmm1, %zmm2
	vfmadd213pd	%zmm4, %zmm1, %zmm8
	vfmadd213pd	%zmm5, %zmm1, %zmm9
	vbroadcastsd	-8(%r10,%rdi,8), %zmm1
	vfmadd213pd	%zmm2, %zmm1, %zmm0
	vfmadd213pd	%zmm8, %zmm1, %zmm7
	vfmadd213pd	%zmm9, %zmm1, %zmm6
	vmovupd	%zmm6, 16(%rsp)
	vmovupd	%zmm7, -48(%rsp)
	vmovupd	%zmm0, 80(%rsp)
.LBB0_13:
	movq	-56(%rsp), %r10
	addq	%r10, %r15
	addq	%r10, %r13
	addq	%r10, %rbp
	addq	%r10, %rax
	movq	-64(%rsp), %r10
	addq	%r10, %r14
	addq	%r10, %r9
	addq	%r10, %r8
	addq	%r10, %rsi
	cmpq	$1, %rdx
	leaq	-1(%rdx), %rdx
	jbe	.LBB0_14
.LBB0_2:
	movq	%rdi, %r12
	cmpb	$0, 2008(%rsp)
	movq	%rdx, -120(%rsp)
	je	.LBB0_21
	movq	%rcx, %rdx
	movq	%r14, %rcx
	testq	%r11, %r11
	jle	.LBB0_4
	vxorpd	%xmm10, %xmm10, %xmm10
	movq	-128(%rsp), %rdi
	vxorpd	%xmm11, %xmm11, %xmm11
	vxorpd	%xmm9, %xmm9, %xmm9
	vxorpd	%xmm8, %xmm8, %xmm8
	vxorpd	%xmm7, %xmm7, %xmm7
	vxorpd	%xmm6, %xmm6, %xmm6
	vxorpd	%xmm5, %xmm5, %xmm5
	vxorpd	%xmm4, %xmm4, %xmm4
	vxorpd	%xmm0, %xmm0, %xmm0
	vxorpd	%xmm3, %xmm3, %xmm3
	vxorpd	%xmm2, %xmm2, %xmm2
	vxorpd	%xmm1, %xmm1, %xmm1
	xorl	%ebx, %ebx
	.p2align	4
.LBB0_6:
	vmovupd	-128(%rdi), %zmm12
	vmovupd	-64(%rdi), %zmm13
	vmovupd	(%rdi), %zmm14
	vbroadcastsd	(%rax,%rbx,8), %zmm15
	vfmadd231pd	%zmm15, %zmm12, %zmm10
	vfmadd231pd	%zmm15, %zmm13, %zmm11
	vfmadd231pd	%zmm15, %zmm14, %zmm9
	vbroadcastsd	(%rbp,%rbx,8), %zmm15
	vfmadd231pd	%zmm15, %zmm12, %zmm8
	vfmadd231pd	%zmm15, %zmm13, %zmm7
	vbroadcastsd	(%r13,%rbx,8), %zmm16
	vfmadd231pd	%zmm15, %zmm14, %zmm6
	vfmadd231pd	%zmm16, %zmm12, %zmm5
	vfmadd231pd	%zmm16, %zmm13, %zmm4
	vfmadd231pd	%zmm16, %zmm14, %zmm0
	vbroadcastsd	(%r15,%rbx,8), %zmm15
	incq	%rbx
	vfmadd231pd	%zmm12, %zmm15, %zmm3
	vfmadd231pd	%zmm13, %zmm15, %zmm2
	vfmadd231pd	%zmm15, %zmm14, %zmm1
	addq	$192, %rdi
	cmpq	%rbx, %r11
	jne	.LBB0_6
	jmp	.LBB0_7
	.p2align	4
.LBB0_21:
	testq	%r11, %r11
	jle	.LBB0_9
	vxorpd	%xmm23, %xmm23, %xmm23
	movq	-128(%rsp), %rdi
	vxorpd	%xmm25, %xmm25, %xmm25
	vxorpd	%xmm24, %xmm24, %xmm24
	vxorpd	%xmm22, %xmm22, %xmm22
	vxorpd	%xmm21, %xmm21, %xmm21
	vxorpd	%xmm20, %xmm20, %xmm20
	vxorpd	%xmm18, %xmm18, %xmm18
	vxorpd	%xmm17, %xmm17, %xmm17
	vxorpd	%xmm16, %xmm16, %xmm16
	vxorpd	%xmm15, %xmm15, %xmm15
	vxorpd	%xmm14, %xmm14, %xmm14
	vxorpd	%xmm13, %xmm13, %xmm13
	xorl	%ebx, %ebx
	.p2align	4
.LBB0_10:
	vmovupd	-128(%rdi), %zmm0
	vmovupd	-64(%rdi), %zmm1
	vmovupd	(%rdi), %zmm2
	vbroadcastsd	(%rax,%rbx,8), %zmm3
	vsubpd	%zmm3, %zmm0, %zmm4
	vfmadd231pd	%zmm4, %zmm4, %zmm23
	vsubpd	%zmm3, %zmm1, %zmm4
	vfmadd231pd	%zmm4, %zmm4, %zmm25
	vsubpd	%zmm3, %zmm2, %zmm3
	vfmadd231pd	%zmm3, %zmm3, %zmm24
	vbroadcastsd	(%rbp,%rbx,8), %zmm3
	vsubpd	%zmm3, %zmm0, %zmm4
	vfmadd231pd	%zmm4, %zmm4, %zmm22
	vsubpd	%zmm3, %zmm1, %zmm4
	vfmadd231pd	%zmm4, %zmm4, %zmm21
	vsubpd	%zmm3, %zmm2, %zmm3
	vbroadcastsd	(%r13,%rbx,8), %zmm4
	vfmadd231pd	%zmm3, %zmm3, %zmm20
	vsubpd	%zmm4, %zmm0, %zmm3
	vfmadd231pd	%zmm3, %zmm3, %zmm18
	vsubpd	%zmm4, %zmm1, %zmm3
	vbroadcastsd	(%r15,%rbx,8), %zmm5
	vfmadd231pd	%zmm3, %zmm3, %zmm17
	incq	%rbx
	vsubpd	%zmm4, %zmm2, %zmm3
	vfmadd231pd	%zmm3, %zmm3, %zmm16
	vsubpd	%zmm5, %zmm0, %zmm0
	vfmadd231pd	%zmm0, %zmm0, %zmm15
	vsubpd	%zmm5, %zmm1, %zmm0
	vfmadd231pd	%zmm0, %zmm0, %zmm14
	vsubpd	%zmm5, %zmm2, %zmm0
	vfmadd231pd	%zmm0, %zmm0, %zmm13
	addq	$192, %rdi
	cmpq	%rbx, %r11
	jne	.LBB0_10
	jmp	.LBB0_11
	.p2align	4
.LBB0_4:
	vxorpd	%xmm1, %xmm1, %xmm1
	vxorpd	%xmm2, %xmm2, %xmm2
	vxorpd	%xmm3, %xmm3, %xmm3
	vxorpd	%xmm0, %xmm0, %xmm0
	vxorpd	%xmm4, %xmm4, %xmm4
	vxorpd	%xmm5, %xmm5, %xmm5
	vxorpd	%xmm6, %xmm6, %xmm6
	vxorpd	%xmm7, %xmm7, %xmm7
	vxorpd	%xmm8, %xmm8, %xmm8
	vxorpd	%xmm9, %xmm9, %xmm9
	vxorpd	%xmm11, %xmm11, %xmm11
	vxorpd	%xmm10, %xmm10, %xmm10
.LBB0_7:
	movq	%r12, %rdi
	movq	1896(%rsp), %r14
	imulq	%r14, %rdi
	addq	-72(%rsp), %rdi
	movq	1808(%rsp), %rbx
	movq	-80(%rsp), %r10
	vmovupd	(%rbx,%r10), %zmm12
	vmovupd	64(%rbx,%r10), %zmm13
	vmovupd	128(%rbx,%r10), %zmm19
	movq	1880(%rsp), %r10
	vbroadcastsd	(%r10,%rdi,8), %zmm14
	addq	%r14, %rdi
	vaddpd	%zmm14, %zmm12, %zmm15
	vaddpd	%zmm15, %zmm10, %zmm23
	vaddpd	%zmm14, %zmm13, %zmm10
	vaddpd	%zmm10, %zmm11, %zmm25
	vaddpd	%zmm14, %zmm19, %zmm10
	vaddpd	%zmm10, %zmm9, %zmm24
	vbroadcastsd	(%r10,%rdi,8), %zmm9
	addq	%r14, %rdi
	vaddpd	%zmm9, %zmm12, %zmm10
	vaddpd	%zmm10, %zmm8, %zmm22
	vaddpd	%zmm9, %zmm13, %zmm8
	vaddpd	%zmm8, %zmm7, %zmm21
	vaddpd	%zmm9, %zmm19, %zmm7
	vaddpd	%zmm7, %zmm6, %zmm20
	vbroadcastsd	(%r10,%rdi,8), %zmm6
	vaddpd	%zmm6, %zmm12, %zmm7
	vaddpd	%zmm7, %zmm5, %zmm18
	vaddpd	%zmm6, %zmm13, %zmm5
	vaddpd	%zmm5, %zmm4, %zmm17
	vaddpd	%zmm6, %zmm19, %zmm4
	vaddpd	%zmm4, %zmm0, %zmm16
	movq	-88(%rsp), %r10
	vbroadcastsd	(%r10,%rdi,8), %zmm0
	vaddpd	%zmm0, %zmm12, %zmm4
	vaddpd	%zmm4, %zmm3, %zmm15
	vaddpd	%zmm0, %zmm13, %zmm3
	vaddpd	%zmm3, %zmm2, %zmm14
	vaddpd	%zmm0, %zmm19, %zmm0
	vaddpd	%zmm0, %zmm1, %zmm13
	vminpd	%zmm25, %zmm23, %zmm0
	vminpd	%zmm22, %zmm24, %zmm1
	vminpd	%zmm1, %zmm0, %zmm0
	vminpd	%zmm20, %zmm21, %zmm1
	vminpd	%zmm17, %zmm18, %zmm2
	vminpd	%zmm2, %zmm1, %zmm1
	vminpd	%zmm1, %zmm0, %zmm0
	vminpd	%zmm15, %zmm16, %zmm1
	vminpd	%zmm13, %zmm14, %zmm2
	vminpd	%zmm2, %zmm1, %zmm1
	vminpd	%zmm1, %zmm0, %zmm0
	vextractf64x4	$1, %zmm0, %ymm1
	vminpd	%ymm1, %ymm0, %ymm0
	vextractf128	$1, %ymm0, %xmm1
	vminpd	%xmm1, %xmm0, %xmm0
	vshufpd	$1, %xmm0, %xmm0, %xmm1
	vminsd	%xmm1, %xmm0, %xmm0
	movq	2048(%rsp), %rdi
	vmovsd	16(%rdi), %xmm1
	vucomisd	%xmm0, %xmm1
	movq	%rcx, %r14
	movq	%rdx, %rcx
	movq	-120(%rsp), %rdx
	jbe	.LBB0_11
	testq	%r11, %r11
	jle	.LBB0_9
	vxorpd	%xmm23, %xmm23, %xmm23
	movq	-104(%rsp), %rdi
	vxorpd	%xmm25, %xmm25, %xmm25
	vxorpd	%xmm24, %xmm24, %xmm24
	vxorpd	%xmm22, %xmm22, %xmm22
	vxorpd	%xmm21, %xmm21, %xmm21
	vxorpd	%xmm20, %xmm20, %xmm20
	vxorpd	%xmm18, %xmm18, %xmm18
	vxorpd	%xmm17, %xmm17, %xmm17
	vxorpd	%xmm16, %xmm16, %xmm16
	vxorpd	%xmm15, %xmm15, %xmm15
	vxorpd	%xmm14, %xmm14, %xmm14
	vxorpd	%xmm13, %xmm13, %xmm13
	xorl	%ebx, %ebx
	.p2align	4
.LBB0_20:
	vmovupd	-128(%rdi), %zmm0
	vmovupd	-64(%rdi), %zmm1
	vmovupd	(%rdi), %zmm2
	vbroadcastsd	(%rax,%rbx,8), %zmm3
	vsubpd	%zmm3, %zmm0, %zmm4
	vfmadd231pd	%zmm4, %zmm4, %zmm23
	vsubpd	%zmm3, %zmm1, %zmm4
	vfmadd231pd	%zmm4, %zmm4, %zmm25
	vsubpd	%zmm3, %zmm2, %zmm3
	vfmadd231pd	%zmm3, %zmm3, %zmm24
	vbroadcastsd	(%rbp,%rbx,8), %zmm3
	vsubpd	%zmm3, %zmm0, %zmm4
	vfmadd231pd	%zmm4, %zmm4, %zmm22
	vsubpd	%zmm3, %zmm1, %zmm4
	vfmadd231pd	%zmm4, %zmm4, %zmm21
	vsubpd	%zmm3, %zmm2, %zmm3
	vbroadcastsd	(%r13,%rbx,8), %zmm4
	vfmadd231pd	%zmm3, %zmm3, %zmm20
	vsubpd	%zmm4, %zmm0, %zmm3
	vfmadd231pd	%zmm3, %zmm3, %zmm18
	vsubpd	%zmm4, %zmm1, %zmm3
	vbroadcastsd	(%r15,%rbx,8), %zmm5
	vfmadd231pd	%zmm3, %zmm3, %zmm17
	incq	%rbx
	vsubpd	%zmm4, %zmm2, %zmm3
	vfmadd231pd	%zmm3, %zmm3, %zmm16
	vsubpd	%zmm5, %zmm0, %zmm0
	vfmadd231pd	%zmm0, %zmm0, %zmm15
	vsubpd	%zmm5, %zmm1, %zmm0
	vfmadd231pd	%zmm0, %zmm0, %zmm14
	vsubpd	%zmm5, %zmm2, %zmm0
	vfmadd231pd	%zmm0, %zmm0, %zmm13
	addq	$192, %rdi
	cmpq	%rbx, %r11
	jne	.LBB0_20
	jmp	.LBB0_11
	.p2align	4
.LBB0_9:
	vxorpd	%xmm13, %xmm13, %xmm13
	vxorpd	%xmm14, %xmm14, %xmm14
	vxorpd	%xmm15, %xmm15, %xmm15
	vxorpd	%xmm16, %xmm16, %xmm16
	vxorpd	%xmm17, %xmm17, %xmm17
	vxorpd	%xmm18, %xmm18, %xmm18
	vxorpd	%xmm20, %xmm20, %xmm20
	vxorpd	%xmm21, %xmm21, %xmm21
	vxorpd	%xmm22, %xmm22, %xmm22
	vxorpd	%xmm24, %xmm24, %xmm24
	vxorpd	%xmm25, %xmm25, %xmm25
	vxorpd	%xmm23, %xmm23, %xmm23
.LBB0_11:
	movq	2048(%rsp), %rdi
	vbroadcastsd	(%rdi), %zmm19
	vbroadcastsd	8(%rdi), %zmm12
	vmovapd	%zmm19, %zmm2
	vmovupd	528(%rsp), %zmm6
	vfmsub213pd	%zmm6, %zmm23, %zmm2
	vmovupd	%zmm2, 1552(%rsp)
	vmovapd	%zmm19, %zmm1
	vfmsub213pd	%zmm6, %zmm25, %zmm1
	vmovupd	%zmm1, 1616(%rsp)
	vmovapd	%zmm19, %zmm0
	vfmsub213pd	%zmm6, %zmm24, %zmm0
	vmovupd	%zmm0, 1680(%rsp)
	vaddpd	%zmm6, %zmm2, %zmm3
	vmovupd	%zmm3, 1360(%rsp)
	vaddpd	%zmm6, %zmm1, %zmm2
	vmovupd	%zmm2, 1424(%rsp)
	vaddpd	%zmm6, %zmm0, %zmm0
	vmovupd	%zmm0, 1488(%rsp)
	vmovapd	%zmm19, %zmm1
	vfmsub213pd	%zmm3, %zmm23, %zmm1
	vmovapd	%zmm19, %zmm11
	vfmsub213pd	%zmm2, %zmm25, %zmm11
	vmovapd	%zmm19, %zmm10
	vfmsub213pd	%zmm0, %zmm24, %zmm10
	vfmadd231pd	%zmm23, %zmm12, %zmm1
	vfmadd231pd	%zmm25, %zmm12, %zmm11
	vfmadd231pd	%zmm24, %zmm12, %zmm10
	vmovapd	%zmm19, %zmm26
	vfmsub213pd	%zmm6, %zmm22, %zmm26
	vmovapd	%zmm19, %zmm27
	vfmsub213pd	%zmm6, %zmm21, %zmm27
	vmovapd	%zmm19, %zmm28
	vfmsub213pd	%zmm6, %zmm20, %zmm28
	vaddpd	%zmm6, %zmm26, %zmm3
	vmovupd	%zmm3, 1168(%rsp)
	vaddpd	%zmm6, %zmm27, %zmm2
	vmovupd	%zmm2, 1232(%rsp)
	vaddpd	%zmm6, %zmm28, %zmm0
	vmovupd	%zmm0, 1296(%rsp)
	vmovapd	%zmm19, %zmm5
	vfmsub213pd	%zmm3, %zmm22, %zmm5
	vmovapd	%zmm19, %zmm4
	vfmsub213pd	%zmm2, %zmm21, %zmm4
	vmovapd	%zmm19, %zmm3
	vfmsub213pd	%zmm0, %zmm20, %zmm3
	vfmadd231pd	%zmm22, %zmm12, %zmm5
	vfmadd231pd	%zmm21, %zmm12, %zmm4
	vfmadd231pd	%zmm20, %zmm12, %zmm3
	vmovapd	%zmm19, %zmm23
	vfmsub213pd	%zmm6, %zmm18, %zmm23
	vmovapd	%zmm19, %zmm24
	vfmsub213pd	%zmm6, %zmm17, %zmm24
	vmovapd	%zmm19, %zmm25
	vfmsub213pd	%zmm6, %zmm16, %zmm25
	vaddpd	%zmm6, %zmm23, %zmm2
	vmovupd	%zmm2, 1104(%rsp)
	vaddpd	%zmm6, %zmm24, %zmm0
	vmovupd	%zmm0, 1040(%rsp)
	vmovapd	%zmm19, %zmm8
	vfmsub213pd	%zmm2, %zmm18, %zmm8
	vfmadd231pd	%zmm18, %zmm12, %zmm8
	vmovapd	%zmm19, %zmm9
	vfmsub213pd	%zmm0, %zmm17, %zmm9
	vfmadd231pd	%zmm17, %zmm12, %zmm9
	vaddpd	%zmm6, %zmm25, %zmm0
	vmovupd	%zmm0, 976(%rsp)
	vmovapd	%zmm19, %zmm2
	vfmsub213pd	%zmm0, %zmm16, %zmm2
	vfmadd231pd	%zmm16, %zmm12, %zmm2
	vmovapd	%zmm19, %zmm22
	vfmsub213pd	%zmm6, %zmm15, %zmm22
	vaddpd	%zmm6, %zmm22, %zmm0
	vmovupd	%zmm0, 912(%rsp)
	vmovapd	%zmm19, %zmm18
	vfmsub213pd	%zmm0, %zmm15, %zmm18
	vfmadd231pd	%zmm15, %zmm12, %zmm18
	vmovapd	%zmm19, %zmm21
	vfmsub213pd	%zmm6, %zmm14, %zmm21
	vaddpd	%zmm6, %zmm21, %zmm0
	vmovupd	%zmm0, 848(%rsp)
	vmovapd	%zmm19, %zmm31
	vfmsub213pd	%zmm0, %zmm14, %zmm31
	vfmadd231pd	%zmm14, %zmm12, %zmm31
	vmovapd	%zmm19, %zmm20
	vfmsub213pd	%zmm6, %zmm13, %zmm20
	vaddpd	%zmm6, %zmm20, %zmm0
	vmovupd	%zmm0, 784(%rsp)
	vfmsub213pd	%zmm0, %zmm13, %zmm19
	vfmadd231pd	%zmm12, %zmm13, %zmm19
	vmovupd	656(%rsp), %zmm17
	vmovapd	%zmm17, %zmm12
	vfmadd213pd	%zmm30, %zmm1, %zmm12
	vfmadd213pd	%zmm29, %zmm1, %zmm12
	vmovupd	464(%rsp), %zmm0
	vfmadd213pd	%zmm0, %zmm1, %zmm12
	vmovupd	400(%rsp), %zmm15
	vfmadd213pd	%zmm15, %zmm1, %zmm12
	vmovupd	336(%rsp), %zmm7
	vfmadd213pd	%zmm7, %zmm1, %zmm12
	vmovupd	272(%rsp), %zmm16
	vfmadd213pd	%zmm16, %zmm1, %zmm12
	vmovapd	%zmm17, %zmm13
	vfmadd213pd	%zmm30, %zmm11, %zmm13
	vfmadd213pd	%zmm29, %zmm11, %zmm13
	vfmadd213pd	%zmm0, %zmm11, %zmm13
	vfmadd213pd	%zmm15, %zmm11, %zmm13
	vfmadd213pd	%zmm7, %zmm11, %zmm13
	vfmadd213pd	%zmm16, %zmm11, %zmm13
	vmovapd	%zmm17, %zmm11
	vfmadd213pd	%zmm30, %zmm10, %zmm11
	vfmadd213pd	%zmm29, %zmm10, %zmm11
	vfmadd213pd	%zmm0, %zmm10, %zmm11
	vfmadd213pd	%zmm15, %zmm10, %zmm11
	vfmadd213pd	%zmm7, %zmm10, %zmm11
	vfmadd213pd	%zmm16, %zmm10, %zmm11
	vmovupd	208(%rsp), %zmm14
	vmovupd	144(%rsp), %zmm6
	vmovupd	1552(%rsp), %zmm1
	vpermi2pd	%zmm14, %zmm6, %zmm1
	vscalefpd	1360(%rsp), %zmm1, %zmm1
	vmulpd	%zmm12, %zmm1, %zmm1
	vmovupd	1616(%rsp), %zmm10
	vpermi2pd	%zmm14, %zmm6, %zmm10
	vscalefpd	1424(%rsp), %zmm10, %zmm10
	vmulpd	%zmm13, %zmm10, %zmm10
	vmovupd	1680(%rsp), %zmm12
	vpermi2pd	%zmm14, %zmm6, %zmm12
	vscalefpd	1488(%rsp), %zmm12, %zmm12
	vmulpd	%zmm11, %zmm12, %zmm11
	vmovapd	%zmm17, %zmm12
	vfmadd213pd	%zmm30, %zmm5, %zmm12
	vfmadd213pd	%zmm29, %zmm5, %zmm12
	vfmadd213pd	%zmm0, %zmm5, %zmm12
	vfmadd213pd	%zmm15, %zmm5, %zmm12
	vfmadd213pd	%zmm7, %zmm5, %zmm12
	vfmadd213pd	%zmm16, %zmm5, %zmm12
	vmovapd	%zmm17, %zmm5
	vfmadd213pd	%zmm30, %zmm4, %zmm5
	vfmadd213pd	%zmm29, %zmm4, %zmm5
	vfmadd213pd	%zmm0, %zmm4, %zmm5
	vfmadd213pd	%zmm15, %zmm4, %zmm5
	vfmadd213pd	%zmm7, %zmm4, %zmm5
	vfmadd213pd	%zmm16, %zmm4, %zmm5
	vmovapd	%zmm17, %zmm13
	vfmadd213pd	%zmm30, %zmm3, %zmm13
	vfmadd213pd	%zmm29, %zmm3, %zmm13
	vfmadd213pd	%zmm0, %zmm3, %zmm13
	vfmadd213pd	%zmm15, %zmm3, %zmm13
	vfmadd213pd	%zmm7, %zmm3, %zmm13
	vfmadd213pd	%zmm16, %zmm3, %zmm13
	vpermi2pd	%zmm14, %zmm6, %zmm26
	vscalefpd	1168(%rsp), %zmm26, %zmm3
	vmulpd	%zmm12, %zmm3, %zmm3
	vpermi2pd	%zmm14, %zmm6, %zmm27
	vscalefpd	1232(%rsp), %zmm27, %zmm4
	vmulpd	%zmm4, %zmm5, %zmm4
	vpermi2pd	%zmm14, %zmm6, %zmm28
	vscalefpd	1296(%rsp), %zmm28, %zmm5
	vmulpd	%zmm5, %zmm13, %zmm5
	vmovapd	%zmm17, %zmm12
	vfmadd213pd	%zmm30, %zmm8, %zmm12
	vfmadd213pd	%zmm29, %zmm8, %zmm12
	vfmadd213pd	%zmm0, %zmm8, %zmm12
	vfmadd213pd	%zmm15, %zmm8, %zmm12
	vfmadd213pd	%zmm7, %zmm8, %zmm12
	vfmadd213pd	%zmm16, %zmm8, %zmm12
	vmovapd	%zmm17, %zmm8
	vfmadd213pd	%zmm30, %zmm9, %zmm8
	vfmadd213pd	%zmm29, %zmm9, %zmm8
	vfmadd213pd	%zmm0, %zmm9, %zmm8
	vfmadd213pd	%zmm15, %zmm9, %zmm8
	vfmadd213pd	%zmm7, %zmm9, %zmm8
	vfmadd213pd	%zmm16, %zmm9, %zmm8
	vmovapd	%zmm17, %zmm9
	vfmadd213pd	%zmm30, %zmm2, %zmm9
	vfmadd213pd	%zmm29, %zmm2, %zmm9
	vfmadd213pd	%zmm0, %zmm2, %zmm9
	vfmadd213pd	%zmm15, %zmm2, %zmm9
	vfmadd213pd	%zmm7, %zmm2, %zmm9
	vfmadd213pd	%zmm16, %zmm2, %zmm9
	vpermi2pd	%zmm14, %zmm6, %zmm23
	vscalefpd	1104(%rsp), %zmm23, %zmm2
	vmulpd	%zmm2, %zmm12, %zmm2
	vpermi2pd	%zmm14, %zmm6, %zmm24
	vscalefpd	1040(%rsp), %zmm24, %zmm12
	vmulpd	%zmm12, %zmm8, %zmm8
	vpermi2pd	%zmm14, %zmm6, %zmm25
	vscalefpd	976(%rsp), %zmm25, %zmm12
	vmulpd	%zmm12, %zmm9, %zmm9
	vmovapd	%zmm17, %zmm12
	vfmadd213pd	%zmm30, %zmm18, %zmm12
	vfmadd213pd	%zmm29, %zmm18, %zmm12
	vfmadd213pd	%zmm0, %zmm18, %zmm12
	vfmadd213pd	%zmm15, %zmm18, %zmm12
	vfmadd213pd	%zmm7, %zmm18, %zmm12
	vfmadd213pd	%zmm16, %zmm18, %zmm12
	vmovapd	%zmm17, %zmm13
	vfmadd213pd	%zmm30, %zmm31, %zmm13
	vfmadd213pd	%zmm29, %zmm31, %zmm13
	vfmadd213pd	%zmm0, %zmm31, %zmm13
	vfmadd213pd	%zmm15, %zmm31, %zmm13
	vfmadd213pd	%zmm7, %zmm31, %zmm13
	vfmadd213pd	%zmm16, %zmm31, %zmm13
	vfmadd213pd	%zmm30, %zmm19, %zmm17
	vfmadd213pd	%zmm29, %zmm19, %zmm17
	vfmadd213pd	%zmm0, %zmm19, %zmm17
	vfmadd213pd	%zmm15, %zmm19, %zmm17
	vfmadd213pd	%zmm7, %zmm19, %zmm17
	vfmadd213pd	%zmm16, %zmm19, %zmm17
	vpermi2pd	%zmm14, %zmm6, %zmm22
	vscalefpd	912(%rsp), %zmm22, %zmm0
	vmulpd	%zmm0, %zmm12, %zmm0
	vpermi2pd	%zmm14, %zmm6, %zmm21
	vscalefpd	848(%rsp), %zmm21, %zmm7
	vmulpd	%zmm7, %zmm13, %zmm7
	vpermi2pd	%zmm14, %zmm6, %zmm20
	vscalefpd	784(%rsp), %zmm20, %zmm6
	vmulpd	%zmm6, %zmm17, %zmm6
	leaq	4(%r12), %rdi
	cmpq	$1, %rcx
	je	.LBB0_12
	jl	.LBB0_13
	movq	-96(%rsp), %rbx
	xorl	%r12d, %r12d
	.p2align	4
.LBB0_17:
	vbroadcastsd	(%rsi,%r12,8), %zmm12
	vmovupd	-128(%rbx), %zmm13
	vfmadd231pd	%zmm12, %zmm1, %zmm13
	vmovupd	-64(%rbx), %zmm14
	vfmadd231pd	%zmm12, %zmm10, %zmm14
	vfmadd213pd	(%rbx), %zmm11, %zmm12
	vbroadcastsd	(%r8,%r12,8), %zmm15
	vfmadd231pd	%zmm15, %zmm3, %zmm13
	vfmadd231pd	%zmm15, %zmm4, %zmm14
	vbroadcastsd	(%r9,%r12,8), %zmm16
	vfmadd231pd	%zmm15, %zmm5, %zmm12
	vfmadd231pd	%zmm16, %zmm2, %zmm13
	vfmadd231pd	%zmm16, %zmm8, %zmm14
	vfmadd231pd	%zmm16, %zmm9, %zmm12
	vbroadcastsd	(%r14,%r12,8), %zmm15
	incq	%r12
	vfmadd231pd	%zmm15, %zmm0, %zmm13
	vfmadd231pd	%zmm15, %zmm7, %zmm14
	vfmadd231pd	%zmm15, %zmm6, %zmm12
	vmovupd	%zmm13, -128(%rbx)
	vmovupd	%zmm14, -64(%rbx)
	vmovupd	%zmm12, (%rbx)
	addq	$192, %rbx
	cmpq	%r12, %rcx
	jne	.LBB0_17
	movq	-120(%rsp), %rdx
	jmp	.LBB0_13
.Lfunc_end0:
	.size	_ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE, .Lfunc_end0-_ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE

	.globl	_ZN7cpython11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE
	.p2align	4
	.type	_ZN7cpython11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE,@function
_ZN7cpython11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	pushq	%r15
	.cfi_def_cfa_offset 24
	pushq	%r14
	.cfi_def_cfa_offset 32
	pushq	%r13
	.cfi_def_cfa_offset 40
	pushq	%r12
	.cfi_def_cfa_offset 48
	pushq	%rbx
	.cfi_def_cfa_offset 56
	subq	$520, %rsp
	.cfi_def_cfa_offset 576
	.cfi_offset %rbx, -56
	.cfi_offset %r12, -48
	.cfi_offset %r13, -40
	.cfi_offset %r14, -32
	.cfi_offset %r15, -24
	.cfi_offset %rbp, -16
	movq	%rsi, %rdi
	leaq	80(%rsp), %r10
	leaq	88(%rsp), %r11
	leaq	96(%rsp), %r14
	leaq	104(%rsp), %r15
	leaq	112(%rsp), %r12
	leaq	120(%rsp), %r13
	movabsq	$.const.tile_sums, %rsi
	movabsq	$PyArg_UnpackTuple, %rbp
	xorl	%ebx, %ebx
	leaq	136(%rsp), %r8
	leaq	128(%rsp), %r9
	movl	$8, %edx
	movl	$8, %ecx
	xorl	%eax, %eax
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	pushq	%r11
	.cfi_adjust_cfa_offset 8
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	callq	*%rbp
	addq	$48, %rsp
	.cfi_adjust_cfa_offset -48
	vxorps	%xmm0, %xmm0, %xmm0
	vmovups	%ymm0, 144(%rsp)
	vmovups	%ymm0, 168(%rsp)
	vmovups	%ymm0, 208(%rsp)
	vmovups	%ymm0, 240(%rsp)
	movq	$0, 272(%rsp)
	testl	%eax, %eax
	je	.LBB1_32
	movabsq	$_ZN08NumbaEnv11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE, %rax
	cmpq	$0, (%rax)
	je	.LBB1_2
	movq	136(%rsp), %rdi
	vmovups	%ymm0, 448(%rsp)
	vmovups	%ymm0, 480(%rsp)
	movq	$0, 512(%rsp)
	movabsq	$NRT_adapt_ndarray_from_python, %r12
	leaq	448(%rsp), %rsi
	vzeroupper
	callq	*%r12
	cmpq	$8, 472(%rsp)
	setne	%cl
	testl	%eax, %eax
	setne	%bl
	orb	%cl, %bl
	cmpb	$1, %bl
	je	.LBB1_4
	testb	%bl, %bl
	jne	.LBB1_6
.LBB1_7:
	movq	448(%rsp), %rax
	movq	%rax, 32(%rsp)
	movq	480(%rsp), %r15
	movq	128(%rsp), %rdi
	vxorps	%xmm0, %xmm0, %xmm0
	vmovups	%ymm0, 368(%rsp)
	vmovups	%ymm0, 400(%rsp)
	movq	$0, 432(%rsp)
	leaq	368(%rsp), %rsi
	vzeroupper
	callq	*%r12
	cmpq	$8, 392(%rsp)
	setne	%cl
	testl	%eax, %eax
	setne	%bl
	orb	%cl, %bl
	jne	.LBB1_8
	testb	%bl, %bl
	jne	.LBB1_14
.LBB1_10:
	movq	368(%rsp), %r14
	movq	400(%rsp), %r13
	movq	416(%rsp), %rbp
	movq	120(%rsp), %rdi
	vxorps	%xmm0, %xmm0, %xmm0
	vmovups	%ymm0, 288(%rsp)
	vmovups	%ymm0, 320(%rsp)
	movq	$0, 352(%rsp)
	leaq	288(%rsp), %rsi
	vzeroupper
	callq	*%r12
	cmpq	$8, 312(%rsp)
	setne	%cl
	testl	%eax, %eax
	setne	%bl
	orb	%cl, %bl
	jne	.LBB1_11
	testb	%bl, %bl
	jne	.LBB1_13
.LBB1_15:
	movq	%r13, 64(%rsp)
	movq	%r15, 72(%rsp)
	movq	%r14, 24(%rsp)
	movq	288(%rsp), %rax
	movq	%rax, 16(%rsp)
	movq	320(%rsp), %rax
	movq	%rax, 48(%rsp)
	movq	336(%rsp), %rax
	movq	%rax, 40(%rsp)
	movq	112(%rsp), %rdi
	movabsq	$PyNumber_Long, %r14
	callq	*%r14
	movabsq	$PyLong_AsLongLong, %r13
	movabsq	$Py_DecRef, %r15
	testq	%rax, %rax
	movq	%rbp, 56(%rsp)
	je	.LBB1_16
	movq	%rax, %rbx
	movq	%rax, %rdi
	callq	*%r13
	movq	%rax, 8(%rsp)
	movq	%rbx, %rdi
	callq	*%r15
	movabsq	$PyErr_Occurred, %rbp
	callq	*%rbp
	testq	%rax, %rax
	jne	.LBB1_30
.LBB1_19:
	movq	104(%rsp), %rdi
	callq	*%r14
	testq	%rax, %rax
	je	.LBB1_20
	movq	%rax, %rbx
	movq	%rax, %rdi
	callq	*%r13
	movq	%rax, %r14
	movq	%rbx, %rdi
	callq	*%r15
	callq	*%rbp
	testq	%rax, %rax
	jne	.LBB1_30
.LBB1_23:
	movq	96(%rsp), %rdi
	movabsq	$PyObject_IsTrue, %rax
	callq	*%rax
	movl	%eax, %ebx
	callq	*%rbp
	testq	%rax, %rax
	jne	.LBB1_30
	movq	88(%rsp), %rdi
	vxorps	%xmm0, %xmm0, %xmm0
	vmovups	%ymm0, 144(%rsp)
	vmovups	%ymm0, 168(%rsp)
	leaq	144(%rsp), %rsi
	vzeroupper
	callq	*%r12
	testl	%eax, %eax
	jne	.LBB1_26
	cmpq	$8, 168(%rsp)
	jne	.LBB1_26
	movq	144(%rsp), %rbp
	movq	176(%rsp), %r15
	movq	80(%rsp), %rdi
	vxorps	%xmm0, %xmm0, %xmm0
	vmovups	%ymm0, 208(%rsp)
	vmovups	%ymm0, 240(%rsp)
	movq	$0, 272(%rsp)
	leaq	208(%rsp), %rsi
	vzeroupper
	callq	*%r12
	testl	%eax, %eax
	jne	.LBB1_29
	cmpq	$8, 232(%rsp)
	jne	.LBB1_29
	xorl	%r12d, %r12d
	testl	%ebx, %ebx
	setne	%r12b
	movq	208(%rsp), %rbx
	movq	240(%rsp), %r13
	movabsq	$PyEval_SaveThread, %rax
	callq	*%rax
	movq	%r14, %rcx
	movq	%rax, %r14
	subq	$336, %rsp
	.cfi_adjust_cfa_offset 336
	movq	%r13, 296(%rsp)
	movq	%r15, 240(%rsp)
	movl	%r12d, 200(%rsp)
	movq	%rcx, 192(%rsp)
	movq	344(%rsp), %rax
	movq	%rax, 184(%rsp)
	movq	376(%rsp), %rax
	movq	%rax, 160(%rsp)
	movq	384(%rsp), %rax
	movq	%rax, 144(%rsp)
	movq	392(%rsp), %rax
	movq	%rax, 88(%rsp)
	movq	400(%rsp), %rax
	movq	%rax, 72(%rsp)
	movq	408(%rsp), %rax
	movq	%rax, (%rsp)
	movabsq	$_ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE, %rax
	leaq	616(%rsp), %rdi
	callq	*%rax
	addq	$336, %rsp
	.cfi_adjust_cfa_offset -336
	movabsq	$PyEval_RestoreThread, %rax
	movq	%r14, %rdi
	callq	*%rax
	movabsq	$NRT_decref, %r14
	movq	32(%rsp), %rdi
	callq	*%r14
	movq	24(%rsp), %rdi
	callq	*%r14
	movq	16(%rsp), %rdi
	callq	*%r14
	movq	%rbp, %rdi
	callq	*%r14
	movq	%rbx, %rdi
	callq	*%r14
	movabsq	$_Py_NoneStruct, %rbx
	movabsq	$Py_IncRef, %rax
	movq	%rbx, %rdi
	callq	*%rax
.LBB1_32:
	movq	%rbx, %rax
	addq	$520, %rsp
	.cfi_def_cfa_offset 56
	popq	%rbx
	.cfi_def_cfa_offset 48
	popq	%r12
	.cfi_def_cfa_offset 40
	popq	%r13
	.cfi_def_cfa_offset 32
	popq	%r14
	.cfi_def_cfa_offset 24
	popq	%r15
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	vzeroupper
	retq
.LBB1_2:
	.cfi_def_cfa_offset 576
	movabsq	$PyExc_RuntimeError, %rdi
	movabsq	$".const.missing Environment: _ZN08NumbaEnv11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE", %rsi
	movabsq	$PyErr_SetString, %rax
	vzeroupper
	callq	*%rax
	xorl	%ebx, %ebx
	jmp	.LBB1_32
.LBB1_4:
	movabsq	$PyExc_TypeError, %rdi
	movabsq	$".const.can't unbox array from PyObject into native value.  The object maybe of a different type", %rsi
	movabsq	$PyErr_SetString, %rax
	callq	*%rax
	testb	%bl, %bl
	je	.LBB1_7
.LBB1_6:
	xorl	%ebx, %ebx
	jmp	.LBB1_32
.LBB1_8:
	movabsq	$PyExc_TypeError, %rdi
	movabsq	$".const.can't unbox array from PyObject into native value.  The object maybe of a different type", %rsi
	movabsq	$PyErr_SetString, %rax
	callq	*%rax
	testb	%bl, %bl
	je	.LBB1_10
	jmp	.LBB1_14
.LBB1_11:
	movabsq	$PyExc_TypeError, %rdi
	movabsq	$".const.can't unbox array from PyObject into native value.  The object maybe of a different type", %rsi
	movabsq	$PyErr_SetString, %rax
	callq	*%rax
	testb	%bl, %bl
	je	.LBB1_15
	jmp	.LBB1_13
.LBB1_16:
	movq	$0, 8(%rsp)
	movabsq	$PyErr_Occurred, %rbp
	callq	*%rbp
	testq	%rax, %rax
	je	.LBB1_19
	jmp	.LBB1_30
.LBB1_20:
	xorl	%r14d, %r14d
	callq	*%rbp
	testq	%rax, %rax
	je	.LBB1_23
	jmp	.LBB1_30
.LBB1_26:
	movabsq	$PyExc_TypeError, %rdi
	movabsq	$".const.can't unbox array from PyObject into native value.  The object maybe of a different type", %rsi
	movabsq	$PyErr_SetString, %rax
	callq	*%rax
	jmp	.LBB1_30
.LBB1_29:
	movabsq	$PyExc_TypeError, %rdi
	movabsq	$".const.can't unbox array from PyObject into native value.  The object maybe of a different type", %rsi
	movabsq	$PyErr_SetString, %rax
	callq	*%rax
	movabsq	$NRT_decref, %rax
	movq	%rbp, %rdi
	callq	*%rax
.LBB1_30:
	movabsq	$NRT_decref, %rax
	movq	16(%rsp), %rdi
	callq	*%rax
	movq	24(%rsp), %r14
.LBB1_13:
	movabsq	$NRT_decref, %rax
	movq	%r14, %rdi
	callq	*%rax
.LBB1_14:
	movabsq	$NRT_decref, %rax
	movq	32(%rsp), %rdi
	callq	*%rax
	xorl	%ebx, %ebx
	jmp	.LBB1_32
.Lfunc_end1:
	.size	_ZN7cpython11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE, .Lfunc_end1-_ZN7cpython11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE
	.cfi_endproc

	.globl	cfunc._ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE
	.p2align	4
	.type	cfunc._ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE,@function
cfunc._ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE:
	subq	$344, %rsp
	movq	408(%rsp), %rax
	movq	424(%rsp), %rcx
	movq	480(%rsp), %rdx
	movq	496(%rsp), %rsi
	vmovups	520(%rsp), %xmm0
	movq	576(%rsp), %rdi
	movq	632(%rsp), %r9
	movq	$0, 336(%rsp)
	movq	%r9, 296(%rsp)
	movq	%rdi, 240(%rsp)
	movzbl	536(%rsp), %edi
	andl	$1, %edi
	movl	%edi, 200(%rsp)
	vmovups	%xmm0, 184(%rsp)
	movq	%rsi, 160(%rsp)
	movq	%rdx, 144(%rsp)
	movq	%rcx, 88(%rsp)
	movq	%rax, 72(%rsp)
	movq	%r8, (%rsp)
	movabsq	$_ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE, %rax
	leaq	336(%rsp), %rdi
	callq	*%rax
	movq	336(%rsp), %rax
	addq	$344, %rsp
	retq
.Lfunc_end2:
	.size	cfunc._ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE, .Lfunc_end2-cfunc._ZN11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE

	.weak	NRT_decref
	.p2align	4
	.type	NRT_decref,@function
NRT_decref:
	.cfi_startproc
	testq	%rdi, %rdi
	je	.LBB3_2
	#MEMBARRIER
	lock		decq	(%rdi)
	je	.LBB3_3
.LBB3_2:
	retq
.LBB3_3:
	#MEMBARRIER
	movabsq	$NRT_MemInfo_call_dtor, %rax
	jmpq	*%rax
.Lfunc_end3:
	.size	NRT_decref, .Lfunc_end3-NRT_decref
	.cfi_endproc

	.type	.const.tile_sums,@object
	.section	.lrodata,"al",@progbits
.const.tile_sums:
	.asciz	"tile_sums"
	.size	.const.tile_sums, 10

	.type	_ZN08NumbaEnv11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE,@object
	.comm	_ZN08NumbaEnv11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE,8,8
	.type	".const.missing Environment: _ZN08NumbaEnv11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE",@object
	.p2align	4, 0x0
".const.missing Environment: _ZN08NumbaEnv11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE":
	.asciz	"missing Environment: _ZN08NumbaEnv11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE"
	.size	".const.missing Environment: _ZN08NumbaEnv11spherapprox8_kernels5fused9tile_sumsB2v1B56c8tJTIeFIjxB2IKSgI4CrvQCk0Z4yRYcWsBAK4JJIqUWsIgmAA_3d_3dE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedExxb5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi2E1C7mutable7alignedE", 295

	.type	".const.can't unbox array from PyObject into native value.  The object maybe of a different type",@object
	.p2align	4, 0x0
".const.can't unbox array from PyObject into native value.  The object maybe of a different type":
	.asciz	"can't unbox array from PyObject into native value.  The object maybe of a different type"
	.size	".const.can't unbox array from PyObject into native value.  The object maybe of a different type", 89

	.section	".note.GNU-stack","",@progbits
